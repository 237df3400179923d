/**
 * Is a mirror sound? Reads everything and writes nothing: the file itself, every body against its SHA-256, the states
 * against the revisions, every row against what its body gives anew, what can be searched against the rows, and every
 * picture against its SHA-256.
 */

import { hash } from "node:crypto";
import Database from "better-sqlite3";
import type { Kinds } from "../../../schema/kind.ts";
import type { StoredBody } from "../bodies/compression.ts";
import { hasDictionaries, prepareReadProvenBody, storedBodyColumns } from "../bodies/read-body.ts";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError } from "../file/errors.ts";
import { mediaFile, readPicture } from "../media/media-files.ts";
import type { MirrorReader } from "../reader.ts";
import type { CheckProblem, ReportProblem } from "./check-problem.ts";
import { checkDerived } from "./check-rows.ts";
import { checkSearch } from "./check-search.ts";

export type { CheckProblem } from "./check-problem.ts";

export interface CheckReport {
  readonly bodies: number;
  readonly resources: number;
  /** Downloaded pictures. */
  readonly pictures: number;
  readonly problems: readonly CheckProblem[];
}

/** Past so many problems, more of them say nothing new. */
const maxProblems = 100;

export function checkMirror(mirror: MirrorReader, kinds: Kinds): CheckReport {
  const { db } = mirror;
  const problems: CheckProblem[] = [];
  const counts = { bodies: 0, resources: 0, pictures: 0 };
  const report: ReportProblem = (problem) => {
    if (problems.length < maxProblems) problems.push(problem);
  };
  try {
    // One transaction sees one state, also while a sync writes.
    db.transaction(() => {
      checkFile(db, report);
      // What is derived from a damaged file would only repeat that it is damaged.
      if (problems.length > 0) return;
      counts.bodies = checkBodies(db, report);
      checkStates(db, report);
      counts.resources = checkDerived(mirror, kinds, report);
      checkSearch(db, report);
      counts.pictures = checkMedia(db, mirror.file, report);
    })();
  } catch (error) {
    // Some damage keeps SQLite from reading on.
    if (!(error instanceof Database.SqliteError)) throw error;
    report({ code: "file", where: "file", what: error.message });
  }
  return { ...counts, problems };
}

function checkFile(db: Connection, report: ReportProblem): void {
  const integrity = db.pragma("integrity_check") as { integrity_check: string }[];
  for (const { integrity_check: what } of integrity) {
    if (what !== "ok") report({ code: "file", where: "file", what });
  }
  for (const { table } of db.pragma("foreign_key_check") as { table: string }[]) {
    report({ code: "foreign-key", where: table, what: "a row refers to one that is not there" });
  }
}

function checkStates(db: Connection, report: ReportProblem): void {
  const wrong = db.prepare<[], { url: string; state: string; current: number }>(
    `select * from (
       select r.url, r.state, (select count(*) from _revision v where v.resource_id = r.id and v.to_run is null) as current
       from _resource r
     ) where current > 1 or state = 'held' and current = 0 or state in ('gone', 'elsewhere') and current = 1`,
  );
  for (const { url, state, current } of wrong.iterate()) {
    report({ code: "state", where: url, what: `is ${state} and has ${current} current revisions` });
  }
  const misnoted = db.prepare<[], { url: string; state: string }>(
    `select url, state from _resource where absent_by is not null and state not in ('held', 'due', 'failed')
       or (absent_by is null) <> (absent_run is null)`,
  );
  for (const { url, state } of misnoted.iterate()) {
    report({ code: "state", where: url, what: `is ${state} and wrongly noted as absent` });
  }
}

/** Whether every body is what was sent, byte for byte, and every dictionary what it was made as. */

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

/** Whether every picture that was ever downloaded is still there, and is what was downloaded. */

/** @returns how many pictures there are */
export function checkMedia(db: Connection, mirrorFile: string, report: ReportProblem): number {
  const select = db
    .prepare<[], string>("select distinct lower(hex(sha256)) as sha256 from _media_file order by 1")
    .pluck();
  let pictures = 0;
  for (const sha256 of select.iterate()) {
    pictures++;
    const what = damageOf(mirrorFile, sha256);
    if (what !== null) report({ code: "media", where: mediaFile(mirrorFile, sha256), what });
  }
  return pictures;
}

function damageOf(mirrorFile: string, sha256: string): string | null {
  try {
    const bytes = readPicture(mirrorFile, sha256);
    if (bytes === null) return "the picture is missing";
    return hash("sha256", bytes) === sha256 ? null : "the picture is not what was downloaded";
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return `the picture cannot be read (${error.code})`;
  }
}
