/** Whether every body is what was sent, byte for byte, and every dictionary what it was made as. */
import { hash } from "node:crypto";
import type { StoredBody } from "../bodies/codec.ts";
import { hasDictionaries, prepareReadProvenBody, storedBodyColumns } from "../bodies/read-body.ts";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import type { ReportProblem } from "./check-problem.ts";

/** @returns how many bodies there are */
export function checkBodies(db: Connection, report: ReportProblem): number {
  if (hasDictionaries(db)) checkDictionaries(db, report);
  const readBody = prepareReadProvenBody(db);
  const select = db.prepare<[], StoredBody & { id: number; sha256: string }>(
    `select c.id, lower(hex(c.sha256)) as sha256, ${storedBodyColumns(db, "c")} from _content c`,
  );
  let bodies = 0;
  for (const { id, sha256, ...stored } of select.iterate()) {
    bodies++;
    try {
      readBody(stored, sha256);
    } catch (error) {
      if (!(error instanceof DamagedBodyError)) throw error;
      report({ code: "body", where: `_content ${id}`, what: error.message });
    }
  }
  return bodies;
}

function checkDictionaries(db: Connection, report: ReportProblem): void {
  const select = db.prepare<[], { id: number; sha256: Buffer; body: Buffer }>(
    "select id, sha256, body from _dictionary",
  );
  for (const { id, sha256, body } of select.iterate()) {
    if (!hash("sha256", body, "buffer").equals(sha256))
      report({ code: "body", where: `_dictionary ${id}`, what: "the dictionary does not have its SHA-256" });
  }
}
