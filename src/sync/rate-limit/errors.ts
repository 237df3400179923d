/** What can be wrong with the ledger's file; each error says which file, and what to do next. */
import { errorClass, isSystemError } from "../../platform/errors.ts";

const meanings: Readonly<Record<LedgerError["code"], { readonly what: string; readonly hint: string }>> = {
  damaged: {
    what: "The ledger is damaged",
    hint: "It is safe to delete it with its -wal and -shm, but for what is left of today's allowance, which is then found out anew.",
  },
  newer: {
    what: "The ledger is of a later version",
    hint: "Install a newer Armoire. The file was not touched.",
  },
  "not-a-ledger": {
    what: "Not a ledger of Armoire's",
    hint: "Move this file away, or use another data directory. It was not touched.",
  },
  unwritable: {
    what: "Cannot open or write the ledger",
    hint: "Check the folder, its permissions and free space.",
  },
};

export class LedgerError extends errorClass("LedgerError", {
  damaged: "damaged",
  newer: "damaged",
  "not-a-ledger": "failed",
  unwritable: "failed",
}) {
  readonly file: string;

  constructor(code: LedgerError["code"], file: string, options?: ErrorOptions) {
    super(code, `${meanings[code].what}: ${file}`, meanings[code].hint, options);
    this.file = file;
  }
}

/** Turns what SQLite or the system throws into a LedgerError; anything else is thrown on as it is. */
export function toLedgerError(error: unknown, file: string): unknown {
  if (isSystemError(error)) return new LedgerError("unwritable", file, { cause: error });
  if (!(error instanceof Error) || !("code" in error)) return error;
  const code = String(error.code);
  if (code === "SQLITE_NOTADB") return new LedgerError("not-a-ledger", file, { cause: error });
  // Tables that are not as we made them: something else wrote into the file.
  if (code === "SQLITE_ERROR" || code.startsWith("SQLITE_CORRUPT"))
    return new LedgerError("damaged", file, { cause: error });
  if (/^SQLITE_(BUSY|CANTOPEN|READONLY|PERM|FULL|IOERR)/.test(code))
    return new LedgerError("unwritable", file, { cause: error });
  return error;
}
