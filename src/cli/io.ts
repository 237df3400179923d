/** Where a command reads its surroundings and writes its words: data to `out`, everything else to `err`. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTerminal: boolean;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly setExitCode: (code: number) => void;
}

export function systemIo(): Io {
  return {
    env: process.env,
    isTerminal: process.stderr.isTTY === true,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    setExitCode: (code) => {
      process.exitCode = code;
    },
  };
}
