/** The base class of all errors that users see, the conversion of system errors to it, and checks of numbers in options. */

/** What a failure means to the caller. The command line derives its exit code from it. */
export type ErrorKind =
  | "failed"
  /** Invalid input, or a name that does not exist. */
  | "usage"
  /** Not authenticated, or an invalid setting. */
  | "settings"
  /** Another process holds a lock. */
  | "locked"
  /** The mirror or another file in use is damaged, or from a newer version. */
  | "damaged"
  /** A backup or an export is damaged, or of another version. */
  | "rejected"
  /** The caller requires a complete mirror, and it is not. */
  | "incomplete"
  /** Ended by Ctrl-C, or by a request to terminate. */
  | "interrupted"
  | "terminated";

/** An error with a stable `code` for programs and a `hint` for people: what to do next. Compare codes, never messages. */
export class ArmoireError<Code extends string = string> extends Error {
  /** What the failure means; the same for all errors with this code. */
  readonly kind: ErrorKind;
  /** Stable: compare this. Each error class lists its codes. */
  readonly code: Code;
  /** What to do next; empty where the message says it. */
  readonly hint: string;

  constructor(kind: ErrorKind, code: Code, message: string, hint: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.code = code;
    this.hint = hint;
  }
}

/** Makes the error class of a folder from its codes and the kind of each. */
export function errorClass<const Kinds extends Readonly<Record<string, ErrorKind>>>(
  name: string,
  kinds: Kinds,
) {
  type Code = keyof Kinds & string;
  return class extends ArmoireError<Code> {
    override readonly name = name;

    constructor(code: Code, message: string, hint = "", options?: ErrorOptions) {
      super(kinds[code] as ErrorKind, code, message, hint, options);
    }
  };
}

/** A file or folder that cannot be used. */
export class FileError extends errorClass("FileError", {
  /** Another process holds the lock. */
  locked: "locked",
  /** Other users could read or change what must be private. */
  unsafe: "settings",
  unwritable: "failed",
  /** A folder, pipe, device or link in the place of a file. */
  "not-a-file": "failed",
  "too-large": "failed",
  /** An output is to go to the place of one of Armoire's own files, of a database of a program, or of no file. */
  "not-replaceable": "usage",
  /** The disk has no room for what is about to be written. */
  "disk-full": "failed",
}) {}

/** Turns an error of the operating system into a FileError; returns any other error as it is. */
export function toFileError(error: unknown, path: string): unknown {
  if (!isSystemError(error)) return error;
  return new FileError(
    "unwritable",
    `Cannot read or write ${path} (${error.code}).`,
    "Check the folder, its permissions and free space.",
    { cause: error },
  );
}

/** An error of the operating system, such as a full disk or a missing permission. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** The message of an error; any other thrown value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;

type Numbers = Readonly<Record<string, number | null | undefined>>;

/**
 * Rejects options that are no whole numbers of at least `min`, also NaN, which no comparison would find. Null and undefined
 * stand for a default.
 * @throws RangeError
 */
export function requireWholeNumbers(min: number, options: Numbers): void {
  requireNumbers(min, options, Number.isSafeInteger, "a whole number");
}

/** As `requireWholeNumbers`, for durations and sizes. @throws RangeError */
export function requireNumbersFrom(min: number, options: Numbers): void {
  requireNumbers(min, options, (value) => !Number.isNaN(value), "a number");
}

function requireNumbers(
  min: number,
  options: Numbers,
  isSuch: (value: number) => boolean,
  what: string,
): void {
  for (const [name, value] of Object.entries(options)) {
    const isGiven = value !== null && value !== undefined;
    if (isGiven && !(typeof value === "number" && isSuch(value) && value >= min))
      throw new RangeError(`${name} must be ${what} of at least ${min}, not ${value}`);
  }
}
