/** Errors of a mirror's file; each names the file and how to continue. */
import { errorClass, hasCode, isSystemError } from "../../platform/errors.ts";
import { readFailureOf } from "./read-failure.ts";

/** Why the file of a mirror cannot be used. */
export class MirrorError extends errorClass("MirrorError", {
  "not-found": "failed",
  "not-a-mirror": "failed",
  damaged: "damaged",
  newer: "damaged",
  /** There is a mirror where a new one was to be created. */
  exists: "failed",
  /** Another process has locked the file against readers. */
  locked: "locked",
  "other-service": "settings",
  unwritable: "failed",
  /** No space is left on the disk. */
  "disk-full": "failed",
  /** The SQLite library is too old to be safe. */
  "unsafe-sqlite": "failed",
}) {
  readonly file: string;
  /** The message without the file name. */
  readonly problem: string;

  constructor(
    code: MirrorError["code"],
    file: string,
    problem: string,
    hint: string,
    options?: ErrorOptions,
  ) {
    super(code, `${problem}: ${file}`, hint, options);
    this.file = file;
    this.problem = problem;
  }
}

export type MirrorErrorCode = MirrorError["code"];

/** A stored body, or the dictionary that it was compressed with, differs from what was stored. */
export class DamagedBodyError extends Error {
  override readonly name = "DamagedBodyError";
}

/** The bookkeeping holds what Armoire does not write. */
export class DamagedValueError extends Error {
  override readonly name = "DamagedValueError";
}

export function damagedError(file: string, options?: ErrorOptions): MirrorError {
  return new MirrorError(
    "damaged",
    file,
    "The mirror is damaged",
    `Nothing was changed. Run \`armoire mirror check\` for details. Then ${hintForDamaged}`,
    options,
  );
}

const hintForDamaged = "restore a copy, or move the file with its -wal and -shm away and sync again.";

export function damagedValueError(file: string, cause: DamagedValueError): MirrorError {
  const hint = `Nothing was changed. To continue, ${hintForDamaged}`;
  return new MirrorError("damaged", file, `The mirror is damaged (${cause.message})`, hint, { cause });
}

export function notFoundError(file: string): MirrorError {
  const hint = "Create it with `armoire sync`, or name another one with --mirror FILE.";
  return new MirrorError("not-found", file, "There is no mirror", hint);
}

export function notSqliteError(file: string, options?: ErrorOptions): MirrorError {
  const hint = "Give a mirror that `armoire sync` has created.";
  return new MirrorError("not-a-mirror", file, "This is not a SQLite file", hint, options);
}

/** Converts errors of SQLite and of the system into a MirrorError; returns any other error as it is. */
export function toMirrorError(error: unknown, file: string): unknown {
  if (error instanceof DamagedBodyError) return damagedError(file, { cause: error });
  if (error instanceof DamagedValueError) return damagedValueError(file, error);
  if (isSystemError(error))
    return unwritableError(file, `Cannot open or write the mirror (${error.code})`, error);
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  const failure = readFailureOf(error, file);
  if (failure !== null) return unreadableError(file, "mirror", failure, { cause: error });
  // Armoire removes no row that others refer to. SQLite has no code of its own for a damaged full-text index.
  const isDamage = code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_CONSTRAINT_FOREIGNKEY";
  if (isDamage || error.message.startsWith("invalid fts5 file format"))
    return damagedError(file, { cause: error });
  if (code === "SQLITE_READONLY_DIRECTORY") {
    const problem = "Reading the mirror needs write permission for its folder, where SQLite makes two files";
    const hint = "Or copy the mirror to a folder of your own while no sync runs.";
    return new MirrorError("unwritable", file, problem, hint, { cause: error });
  }
  if (code === "SQLITE_NOTADB") return notSqliteError(file, { cause: error });
  if (/^SQLITE_(CANTOPEN|READONLY|PERM|FULL|IOERR)/.test(code))
    return unwritableError(file, `Cannot open or write the mirror (${code})`, error);
  return error;
}

/**
 * As `toMirrorError`. A statement that SQLite rejects while a mirror is opened means that its tables were changed.
 */
export function toOpeningError(error: unknown, file: string): unknown {
  return hasCode(error, "SQLITE_ERROR") ? damagedError(file, { cause: error }) : toMirrorError(error, file);
}

/** @param reason such as EIO */
export function unreadableError(
  file: string,
  what: "mirror" | "picture",
  reason: string,
  options?: ErrorOptions,
): MirrorError {
  return new MirrorError("unwritable", file, `Cannot read the ${what} (${reason})`, unwritableHint, options);
}

const unwritableHint = "Check the folder, its permissions and free space.";

function unwritableError(file: string, problem: string, cause: Error): MirrorError {
  const isFull = hasCode(cause, "ENOSPC") || hasCode(cause, "SQLITE_FULL");
  return new MirrorError(isFull ? "disk-full" : "unwritable", file, problem, unwritableHint, { cause });
}
