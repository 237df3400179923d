/**
 * Is a mirror sound? Reads everything and writes nothing: the file itself, every body against its SHA-256, the states
 * against the revisions, every row against what its body gives anew, what can be searched against the rows, and every
 * picture against its SHA-256.
 */
import Database from "better-sqlite3";
import type { Kinds } from "../../../schema/kind.ts";
import type { Connection } from "../file/connection.ts";
import type { MirrorReader } from "../mirror-reader.ts";
import { isDerived } from "../rows/require-derived.ts";
import { checkBodies } from "./check-bodies.ts";
import { checkDerived } from "./check-derived.ts";
import { checkMedia } from "./check-media.ts";
import type { CheckProblem, ReportProblem } from "./check-problem.ts";
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
      if (isDerived(db, "_search")) checkSearch(db, report);
      if (isDerived(db, "_media")) counts.pictures = checkMedia(db, mirror.file, report);
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
