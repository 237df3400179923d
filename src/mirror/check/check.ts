/**
 * Checks whether a mirror is sound. It reads everything and writes nothing: the file, the run log, the SHA-256 of every body
 * and picture, the states against the revisions, the rows against the bodies, and the search index against the rows.
 */
import { hash } from "node:crypto";
import { statSync } from "node:fs";
import Database from "better-sqlite3";
import { sql } from "kysely";
import type { Kinds } from "../../../schema/kind.ts";
import { isSystemError } from "../../platform/errors.ts";
import { prepareReadProvenBody, storedBodyColumns } from "../bodies/read-body.ts";
import type { Connection } from "../file/connection.ts";
import { DamagedBodyError, DamagedValueError, unreadableError } from "../file/errors.ts";
import { readFailureIn, readFailureOf, readIntegrityProblems } from "../file/read-failure.ts";
import { prepare } from "../file/statements.ts";
import { listStoredPictures, mediaFile, type PictureKey, readPicture } from "../media/media-files.ts";
import { q } from "../queries/query-builder.ts";
import type { MirrorReader } from "../reader.ts";
import { requireOneUser } from "../rows/recorded-user.ts";
import type { CheckProblem, ReportProblem } from "./check-problem.ts";
import { checkDerived } from "./check-rows.ts";
import { checkRuns } from "./check-runs.ts";
import { checkSearch } from "./check-search.ts";
import { checkStates } from "./check-states.ts";

export type { CheckProblem } from "./check-problem.ts";

/** How much was checked, and what is wrong. */
export interface CheckReport {
  /** The number of bodies that were read. */
  readonly bodies: number;
  /** The number of resources whose rows were compared. */
  readonly resources: number;
  /** Downloaded pictures. */
  readonly pictures: number;
  /** At most 100; none for a sound mirror. */
  readonly problems: readonly CheckProblem[];
}

/** Further problems would add nothing. */
const maxProblems = 100;

/**
 * Compares what a mirror has stored with what follows from its bodies: rows, links, pages, the search index and pictures. It
 * reads all bodies, and changes nothing.
 * @returns at most 100 problems; none for a sound mirror
 */
export function checkMirror(mirror: MirrorReader, kinds: Kinds): CheckReport {
  const { db } = mirror;
  const problems: CheckProblem[] = [];
  const counts = { bodies: 0, resources: 0, pictures: 0 };
  const report: ReportProblem = (problem) => {
    if (problems.length < maxProblems) problems.push(problem);
  };
  try {
    // One transaction, so that all checks read the same state while a sync writes.
    db.transaction(() => {
      checkFile(mirror, report);
      // Further problems of a damaged file would be consequences of the damage.
      if (problems.length > 0) return;
      checkRuns(db, report);
      counts.bodies = checkBodies(db, report);
      checkStates(db, report);
      checkUser(db, report);
      counts.resources = checkDerived(mirror, kinds, report);
      checkSearch(db, report);
      counts.pictures = checkPictures(db, mirror.file, report);
    })();
  } catch (error) {
    if (!isDamage(error, mirror.file)) throw error;
    report({ code: "file", where: "file", message: error.message });
  }
  return { ...counts, problems };
}

/** Some damage makes SQLite statements fail. */
function isDamage(error: unknown, file: string): error is Error {
  if (!(error instanceof Database.SqliteError)) return false;
  return !/^SQLITE_(IOERR|CANTOPEN|NOMEM|FULL)/.test(error.code) && readFailureOf(error, file) === null;
}

function checkFile({ db, file }: MirrorReader, report: ReportProblem): void {
  const messages = readIntegrityProblems(db);
  // SQLite lists a page that could not be read as damage.
  const failure = messages.length > 0 ? readFailureIn(file) : null;
  if (failure !== null) throw unreadableError(file, "mirror", failure);
  for (const message of messages) report({ code: "file", where: "file", message });
  // SQLite reads the missing end of the last page as zeros.
  const pageSize = Number(db.pragma("page_size", { simple: true }));
  if (statSync(file).size % pageSize !== 0)
    report({ code: "file", where: "file", message: "the file ends within a page" });
  for (const { table } of db.pragma("foreign_key_check") as { table: string }[]) {
    report({ code: "foreign-key", where: table, message: "a row refers to a missing row" });
  }
}

/** Checks the SHA-256 of every body and dictionary. @returns the number of bodies */
function checkBodies(db: Connection, report: ReportProblem): number {
  checkDictionaries(db, report);
  const readBody = prepareReadProvenBody(db);
  const select = prepare(db, () =>
    q
      .selectFrom("_content as c")
      .select(["c.id", sql<string>`lower(hex(c.sha256))`.as("sha256")])
      .select(storedBodyColumns),
  );
  let bodies = 0;
  for (const { id, sha256, ...stored } of select.iterate()) {
    bodies++;
    try {
      readBody(stored, sha256);
    } catch (error) {
      if (!(error instanceof DamagedBodyError)) throw error;
      report({ code: "body", where: `_content ${id}`, message: error.message });
    }
  }
  return bodies;
}

function checkDictionaries(db: Connection, report: ReportProblem): void {
  const select = prepare(db, () => q.selectFrom("_dictionary").select(["id", "sha256", "body"]));
  for (const { id, sha256, body } of select.iterate()) {
    if (!hash("sha256", body, "buffer").equals(sha256))
      report({
        code: "body",
        where: `_dictionary ${id}`,
        message: "the dictionary does not match its SHA-256",
      });
  }
}

function checkUser(db: Connection, report: ReportProblem): void {
  try {
    requireOneUser(db);
  } catch (error) {
    if (!(error instanceof DamagedValueError)) throw error;
    report({ code: "row", where: "_meta", message: "the user_id is not that of the rows" });
  }
}

/** Checks that every downloaded picture is present and unchanged. @returns the number of pictures */
function checkPictures(db: Connection, mirrorFile: string, report: ReportProblem): number {
  let pictures = 0;
  for (const picture of listStoredPictures(db)) {
    pictures++;
    const message = describeDamage(mirrorFile, picture);
    if (message !== null) report({ code: "media", where: mediaFile(mirrorFile, picture), message });
  }
  return pictures;
}

/** @throws MirrorError if the picture cannot be read */
function describeDamage(mirrorFile: string, picture: PictureKey): string | null {
  try {
    const bytes = readPicture(mirrorFile, picture);
    if (bytes === null) return "the picture is missing";
    return hash("sha256", bytes) === picture.sha256 ? null : "the picture does not match its SHA-256";
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw unreadableError(mediaFile(mirrorFile, picture), "picture", error.code ?? "I/O error", {
      cause: error,
    });
  }
}
