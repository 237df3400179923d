/** What can be wrong with a mirror; each error says which file, and what to do next. */
import { errorClass, hasCode, isSystemError } from "../../platform/errors.ts";

export class MirrorError extends errorClass("MirrorError", {
  "not-found": "failed",
  "not-a-mirror": "failed",
  damaged: "damaged",
  newer: "damaged",
  /** A mirror exists where a new one is to be made. */
  exists: "failed",
  "other-service": "settings",
  unwritable: "failed",
  /** The SQLite library is too old to be safe. */
  "unsafe-sqlite": "failed",
}) {
  readonly file: string;
  /** What is wrong, without the file name. */
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

/** A body that cannot be read: it, or the dictionary that it was deflated with, is not what was stored. */
export class DamagedBodyError extends Error {
  override readonly name = "DamagedBodyError";
}

export function damagedError(file: string, options?: ErrorOptions): MirrorError {
  return new MirrorError(
    "damaged",
    file,
    "The mirror is damaged",
    "Nothing was changed. Restore a copy, or move the file with its -wal and -shm away and sync again; `armoire mirror check` says more where it can be read.",
    options,
  );
}

export function notSqliteError(file: string, options?: ErrorOptions): MirrorError {
  const hint = "Give a mirror made by `armoire sync`.";
  return new MirrorError("not-a-mirror", file, "Not a SQLite file", hint, options);
}

/** Turns what SQLite or the system throws while a file is opened, read or written into a MirrorError; anything else is thrown on as it is. */
export function toMirrorError(error: unknown, file: string): unknown {
  if (error instanceof DamagedBodyError) return damagedError(file, { cause: error });
  if (isSystemError(error)) return unwritableError(file, `Cannot write the mirror (${error.code})`, error);
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  if (code.startsWith("SQLITE_CORRUPT")) return damagedError(file, { cause: error });
  if (code === "SQLITE_NOTADB") return notSqliteError(file, { cause: error });
  if (/^SQLITE_(CANTOPEN|READONLY|PERM|FULL|IOERR)/.test(code))
    return unwritableError(file, `Cannot open or write the mirror (${code})`, error);
  return error;
}

function unwritableError(file: string, what: string, cause: Error): MirrorError {
  return new MirrorError("unwritable", file, what, "Check the folder, its permissions and free space.", {
    cause,
  });
}

/** While a mirror is opened, a statement that SQLite does not accept means that the tables are not ours any more. */
export function toOpeningError(error: unknown, file: string): unknown {
  const isRefusedStatement = hasCode(error, "SQLITE_ERROR");
  return isRefusedStatement ? damagedError(file, { cause: error }) : toMirrorError(error, file);
}
