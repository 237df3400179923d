import { once } from "node:events";
import type { Writable } from "node:stream";
import { askTerminal, type Question } from "./ask-terminal.ts";
import { type ExitCode, exitCodes, interruptedError } from "./exit-codes.ts";

/** Where a command reads its surroundings and writes its words: data to `out`, everything else to `err`. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether a person watches `err`. */
  readonly isTerminal: boolean;
  /** The terminal's width. */
  readonly columns: number;
  /** The width of the terminal that shows `out`; null where none does. */
  readonly outColumns: number | null;
  /** Asks the person at the terminal; null is her end of input. Null itself where nobody can be asked. */
  readonly ask: ((question: Question) => Promise<string | null>) | null;
  /** All that comes on standard input, till it ends or is longer than any answer. */
  readonly readInput: () => Promise<string>;
  readonly out: Writer;
  readonly err: (text: string) => void;
  readonly setExitCode: (code: number) => void;
  /** Calls back at Ctrl-C or a request to terminate, with the exit code that it asks for; a second one ends at once. */
  readonly onInterrupt: (callback: (exitCode: ExitCode) => void) => void;
}

export function systemIo(): Io {
  // Whoever reads our output may have had enough of it (`| head`): that is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  // Nor is it one when nobody reads our remarks any more: the work goes on.
  process.stderr.on("error", () => {});
  return {
    env: process.env,
    isTerminal: process.stderr.isTTY === true,
    columns: process.stderr.columns ?? 80,
    outColumns:
      process.stdout.isTTY === true ? Number(process.env.COLUMNS) || process.stdout.columns || 80 : null,
    ask: process.stdin.isTTY ? askHere : null,
    readInput,
    out: streamWriter(process.stdout),
    err: (text) => void process.stderr.write(text),
    setExitCode: (code) => {
      process.exitCode = code;
    },
    onInterrupt(callback) {
      let isAsked = false;
      for (const [signal, exitCode] of [
        ["SIGINT", exitCodes.interrupted],
        ["SIGTERM", exitCodes.terminated],
        ["SIGHUP", exitCodes.terminated],
      ] as const) {
        process.on(signal, () => {
          if (isAsked) process.exit(exitCode);
          isAsked = true;
          callback(exitCode);
        });
      }
    },
  };
}

const mostInput = 65_536;

/** Ctrl-C does there what it does anywhere. */
function askHere(question: Question): Promise<string | null> {
  const write = (text: string) => void process.stderr.write(text);
  return askTerminal(question, process.stdin, write, () => process.kill(process.pid, "SIGINT"));
}

async function readInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += chunk;
    if (text.length > mostInput) break;
  }
  return text;
}

/** Aborted at Ctrl-C or a request to terminate. @param outcome what is true then, such as that nothing was written */
export function interruptSignal(io: Io, outcome: string): AbortSignal {
  const interruption = new AbortController();
  io.onInterrupt((exitCode) => interruption.abort(interruptedError(exitCode, outcome)));
  return interruption.signal;
}

/** Writes at once. While the stream's reader is behind, it gives a promise for whoever has much to write to wait for. */
export type Writer = (text: string) => Promise<void> | undefined;

export function streamWriter(stream: Writable): Writer {
  let drained: Promise<void> | undefined;
  return (text) => {
    if (stream.write(text)) return undefined;
    drained ??= once(stream, "drain").then(() => {
      drained = undefined;
    });
    return drained;
  };
}
