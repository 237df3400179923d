import { once } from "node:events";
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { styleText } from "node:util";
import { hasCode } from "../../platform/errors.ts";
import { askTerminal, type Question } from "./ask-terminal.ts";
import { CliError, describeError, type ExitCode, exitCodes, interruptedError } from "./exit-codes.ts";
import { showInPager } from "./other-programs.ts";
import { escapeLines } from "./safe-text.ts";
import { wrapLines, wrapText } from "./wrap.ts";

/** The process as a command sees it: environment, terminal and streams. Data goes to `out`, everything else to `err`. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether `err` is a terminal. */
  readonly isTerminal: boolean;
  /** The width of the terminal. */
  readonly columns: number;
  /** The terminal that shows `out`; null without one. */
  readonly screen: Screen | null;
  /** Prompts at the terminal; the result is null at the end of input. Null itself without a terminal. */
  readonly ask: ((question: Question) => Promise<string | null>) | null;
  /** Reads standard input to its end, or until it is longer than any secret. */
  readonly readInput: () => Promise<string>;
  /** On a terminal, unsafe characters are escaped. Without a reader, the text is dropped. */
  readonly out: Writer;
  /** False once the reader of `out` has closed the pipe (`| head`). The command still does its work, and has its exit code. */
  readonly hasReader: () => boolean;
  /** Whole lines of text, wrapped on a terminal. Unsafe characters are escaped. */
  readonly err: (text: string) => void;
  /** Replaces the last line of the terminal on stderr; an empty text clears it. Unsafe characters are escaped. */
  readonly rewriteLine: (text: string) => void;
  readonly setExitCode: (code: number) => void;
  /** Calls back at the first signal with its exit code. A second signal ends the process at once. */
  readonly onInterrupt: (callback: (exitCode: ExitCode) => void) => void;
}

export interface Screen {
  /** The width of the terminal. */
  readonly columns: number;
  /** Prints all of a result, in a pager if it is longer than the screen. Colors need a terminal that has them, and no NO_COLOR. */
  readonly print: (lines: readonly Line[]) => Promise<void> | undefined;
}

export interface Line {
  /** Without a line end. Unsafe characters are escaped. */
  readonly text: string;
  readonly color?: "green" | "red" | undefined;
}

/** The streams that a command prints to. */
export interface OutputStreams {
  readonly stdout: NodeJS.WriteStream & { readonly fd: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
}

/** The printing part of an `Io`: the only one that writes to a terminal. */
export function printersOf({
  stdout,
  stderr,
}: OutputStreams): Pick<Io, "out" | "hasReader" | "err" | "rewriteLine"> {
  let hasReader = true;
  stdout.on("error", (error) => {
    if (!hasCode(error, "EPIPE")) endAtFailedOutput(error);
    hasReader = false;
  });
  const write = isWrittenAtOnce(stdout) ? fileWriter(stdout.fd) : streamWriter(stdout);
  const writeToReader: Writer = (text) => (hasReader ? write(text) : undefined);
  return {
    out: stdout.isTTY === true ? (text) => writeToReader(escapeLines(text)) : writeToReader,
    hasReader: () => hasReader,
    err: (text) => void stderr.write(escapeLines(stderr.isTTY === true ? wrapNotice(text, stderr) : text)),
    rewriteLine: (text) => void stderr.write(`\r\u001b[2K${escapeLines(text)}`),
  };
}

export function systemIo(): Io {
  const printers = printersOf(process);
  // A closed stderr does not stop the work, either.
  process.stderr.on("error", () => {});
  return {
    env: process.env,
    isTerminal: process.stderr.isTTY === true,
    columns: widthOf(process.stderr),
    screen: process.stdout.isTTY === true ? screenOf(process.stdout) : null,
    // Few commands ask, and Node loads its streams of files for standard input.
    get ask() {
      return process.stdin.isTTY ? askHere : null;
    },
    readInput,
    ...printers,
    setExitCode: (code) => {
      process.exitCode = code;
    },
    onInterrupt(callback) {
      const handle = interruptHandler(callback, process.exit, performance.now.bind(performance));
      for (const [signal, exitCode] of [
        ["SIGINT", exitCodes.interrupted],
        ["SIGTERM", exitCodes.terminated],
        ["SIGHUP", exitCodes.terminated],
      ] as const)
        process.on(signal, () => handle(exitCode));
    },
  };
}

/** Not JSON of the log, nor what has a layout, such as help and stacks. */
const wrapNotice = (text: string, terminal: Sized): string =>
  text.replace(/^[^ {].*$/gm, (line) => wrapText(line, widthOf(terminal)));

type Sized = { readonly columns?: number };

/** A terminal that was never given a size, such as one of a container or a test, says that its width is 0. */
const widthOf = ({ columns }: Sized): number => columns || 80;

/** Prints all of a text for people, on a terminal wrapped, and in a pager if it is longer than the screen. */
export function printText({ out, screen }: Pick<Io, "out" | "screen">, text: string) {
  return screen === null ? out(text) : screen.print(toLines(wrapLines(text, screen.columns)));
}

/** A line end at the end is not needed. */
export const toLines = (text: string, color?: Line["color"]): Line[] =>
  text === ""
    ? []
    : text
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => ({ text: line, color }));

function screenOf(terminal: NodeJS.WriteStream): Screen {
  const write = streamWriter(terminal);
  const hasColors = terminal.hasColors();
  const show = ({ text, color }: Line): string => {
    const safe = escapeLines(text);
    return `${color === undefined || !hasColors ? safe : styleText(color, safe, { validateStream: false })}\n`;
  };
  return {
    columns: Number(process.env.COLUMNS) || widthOf(terminal),
    print(lines) {
      const text = lines.map(show).join("");
      return lines.length >= terminal.rows && showInPager(text, process.env) ? undefined : write(text);
    },
  };
}

/** Ends the process with one line. It is safe to end here, as at any other instant. */
function endAtFailedOutput(error: unknown): never {
  const reason = error instanceof Error && "code" in error ? error.code : "unknown error";
  const failure = new CliError(
    "failed",
    `Standard output cannot be written (${reason}), so it is incomplete.`,
  );
  process.stderr.write(describeError(failure, false));
  process.exit(exitCodes.failed);
}

/** False for pipes, sockets and terminals, whose reader may be slow. */
function isWrittenAtOnce({ fd, isTTY }: OutputStreams["stdout"]): boolean {
  if (isTTY) return false;
  const stats = fstatSync(fd);
  return !stats.isFIFO() && !stats.isSocket();
}

/** Writes all of a text. Node's own stream ignores that a full disk accepts only a part. */
function fileWriter(fd: number): Writer {
  return (text) => {
    const bytes = Buffer.from(text);
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    } catch (error) {
      endAtFailedOutput(error);
    }
    return undefined;
  };
}

/** One Ctrl-C may arrive twice: from the terminal, and forwarded by a parent process such as npm. */
const sameSignalMillis = 100;

/** @param exit called at the second signal @param now milliseconds */
export function interruptHandler(
  callback: (exitCode: ExitCode) => void,
  exit: (exitCode: ExitCode) => void,
  now: () => number,
): (exitCode: ExitCode) => void {
  let firstAt: number | null = null;
  return (exitCode) => {
    if (firstAt === null) {
      firstAt = now();
      callback(exitCode);
    } else if (now() - firstAt >= sameSignalMillis) exit(exitCode);
  };
}

const maxInputLength = 65_536;

/** In raw mode the terminal sends no signal at Ctrl-C, so the prompt does. */
function askHere(question: Question): Promise<string | null> {
  const write = (text: string) => void process.stderr.write(text);
  const safeQuestion = { ...question, text: escapeLines(question.text) };
  return askTerminal(safeQuestion, process.stdin, write, () => process.kill(process.pid, "SIGINT"));
}

async function readInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    text += chunk;
    if (text.length > maxInputLength) break;
  }
  return text;
}

/** Aborted by the first signal. @param outcome the state afterwards, such as "nothing was written" */
export function interruptSignal(io: Io, outcome: string): AbortSignal {
  const interruption = new AbortController();
  io.onInterrupt((exitCode) => interruption.abort(interruptedError(exitCode, outcome)));
  return interruption.signal;
}

/** Writes at once. While the reader is slow, it returns a promise that resolves when more can be written. */
export type Writer = (text: string) => Promise<void> | undefined;

export function streamWriter(stream: Writable): Writer {
  let drained: Promise<void> | undefined;
  return (text) => {
    if (stream.write(text)) return undefined;
    drained ??= once(stream, "drain")
      // Of an error, another listener takes care.
      .catch(() => {})
      .then(() => {
        drained = undefined;
      });
    return drained;
  };
}
