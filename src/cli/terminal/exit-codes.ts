/** What the process's exit code says; scripts rely on these, and `docs/command-line.md` lists them. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  someFailed: 3,
  settings: 4,
  incomplete: 8,
  locked: 11,
  approval: 12,
  damaged: 14,
  different: 20,
  interrupted: 130,
  terminated: 143,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** An error designed for the person at the terminal: what happened and where, then what to do next. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;
  readonly hint: string | null;
  constructor(exitCode: ExitCode, message: string, hint: string | null = null, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
    this.hint = hint;
  }
}
