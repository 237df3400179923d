import { readFailureOf } from "../../mirror/file/read-failure.ts";
import { errorClass, isSystemError } from "../../platform/errors.ts";

const texts: Readonly<Record<LedgerError["code"], { readonly problem: string; readonly hint: string }>> = {
  damaged: {
    problem: "The ledger is damaged",
    hint: "You can delete it with its -wal and -shm: only the record of today's allowance is lost, and made again.",
  },
  newer: {
    problem: "The ledger is from a newer version of Armoire",
    hint: "Install a newer Armoire. The file was not touched.",
  },
  "not-a-ledger": {
    problem: "This is not a ledger of Armoire",
    hint: "Move this file away, or use another data directory. It was not touched.",
  },
  unwritable: {
    problem: "Cannot open or write the ledger",
    hint: "Check the folder, its permissions and free space.",
  },
};

/** A ledger file that cannot be used. */
export class LedgerError extends errorClass("LedgerError", {
  damaged: "damaged",
  newer: "damaged",
  "not-a-ledger": "failed",
  unwritable: "failed",
}) {
  readonly file: string;

  constructor(code: LedgerError["code"], file: string, options?: ErrorOptions) {
    super(code, `${texts[code].problem}: ${file}`, texts[code].hint, options);
    this.file = file;
  }
}

/** Turns an error of SQLite or the system into a LedgerError; returns any other error as it is. */
export function toLedgerError(error: unknown, file: string): unknown {
  if (isSystemError(error)) return new LedgerError("unwritable", file, { cause: error });
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  if (code === "SQLITE_NOTADB") return new LedgerError("not-a-ledger", file, { cause: error });
  if (readFailureOf(error, file) !== null) return new LedgerError("unwritable", file, { cause: error });
  // Tables of another shape: another program wrote into the file.
  if (code === "SQLITE_ERROR" || code.startsWith("SQLITE_CORRUPT"))
    return new LedgerError("damaged", file, { cause: error });
  if (/^SQLITE_(BUSY|CANTOPEN|READONLY|PERM|FULL|IOERR)/.test(code))
    return new LedgerError("unwritable", file, { cause: error });
  return error;
}
