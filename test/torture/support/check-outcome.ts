/** What must hold after a disturbance, as far as it does not depend on the command. */
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { openMirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import type { Mode } from "./modes.ts";
import { type Execution, errnos, type Op, type Operation } from "./operations.ts";

/** What a failing operation must not lead to. */
export function problemsOf(
  { exitCode, stderr, hasTimedOut, operations, wasDisturbed }: Execution,
  mode: Mode,
): string[] {
  if (hasTimedOut) return ["it hangs"];
  if (mode.action !== "fail" || !wasDisturbed) return [];
  const problems: string[] = [];
  if (exitCode === null) problems.push(`it crashes: ${stderr.trim()}`);
  if (/This is unexpected|^ {4}at /m.test(stderr))
    problems.push(`its error is not explained: ${stderr.trim()}`);
  const failed = operations.find(({ errno }) => errno === errnos[mode.error]);
  if (exitCode === 0 && failed !== undefined && isLoss(failed, operations))
    problems.push(`it exits with 0 though ${failed.op} ${failed.path} failed`);
  return problems;
}

/** Whether a failed call says that data may be lost. A failed close does so only if data was not flushed before. */
function isLoss(failed: Operation, operations: readonly Operation[]): boolean {
  const index = operations.indexOf(failed);
  if (failed.op === "syncFolder") return areNamesLost(failed.path, index, operations);
  if (failed.op !== "close") return failed.op === "sync";
  const ofFile = operations.slice(0, index).filter(({ inode }) => inode === failed.offset);
  // SQLite's index of the log is made anew by whoever opens it next.
  if (ofFile.findLast(({ path }) => path !== "")?.path.endsWith("-shm")) return false;
  const last = ofFile.findLast(({ op }) => op === "write" || op === "truncate" || op === "sync");
  // An emptied log is emptied again by whoever opens it next.
  return last?.op === "write" || (last?.op === "truncate" && last.offset > 0);
}

/**
 * Whether a failed flush of a folder was the only one since its names changed: SQLite ignores the failure, so Armoire
 * flushes once more, before or after.
 */
function areNamesLost(folder: string, index: number, operations: readonly Operation[]): boolean {
  const isFlush = ({ op, path, errno }: Operation) => op === "syncFolder" && path === folder && errno === 0;
  if (operations.slice(index + 1).some(isFlush)) return false;
  const earlier = operations.slice(0, index);
  const sinceFlush = earlier.slice(earlier.findLastIndex(isFlush) + 1);
  return sinceFlush.some(
    ({ op, path, target, errno }) =>
      errno === 0 &&
      (changesOfNames as readonly Op[]).includes(op) &&
      [path, target].some((name) => name !== "" && dirname(name) === folder),
  );
}

const changesOfNames = [
  "create",
  "rename",
  "unlink",
  "makeFolder",
  "removeFolder",
  "link",
  "symlink",
] as const;

export function soundnessOf(file: string): string[] {
  if (!existsSync(file)) return [];
  try {
    return readMirror(file, (reader) => checkMirror(reader, kinds)).problems.map(({ message }) => message);
  } catch (error) {
    return [String(error)];
  }
}

/** Every stored revision, as text. */
export function readRevisions(file: string): string[] {
  if (!existsSync(file)) return [];
  const reader = openMirrorReader(file);
  try {
    return reader.db
      .prepare<[], string>(
        `select r.url || ' ' || v.seq || ' ' || coalesce(hex(c.sha256), '') from _revision v
         join _resource r on r.id = v.resource_id left join _content c on c.id = v.content_id`,
      )
      .pluck()
      .all();
  } finally {
    reader.close();
  }
}

export function lostOf(revisions: readonly string[], mirrors: readonly string[]): string | null {
  if (revisions.length === 0) return null;
  const present = new Set(mirrors.flatMap(readRevisions));
  const lost = revisions.filter((revision) => !present.has(revision));
  return lost.length === 0 ? null : `${lost.length} revisions of an earlier run are lost, such as ${lost[0]}`;
}

/**
 * Names below a folder, without what SQLite leaves beside a file that was only read, and without the names of killed holders
 * of a mirror's lock, which the next writer removes.
 */
export function listNames(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !/-(wal|shm)$|\.sqlite\.holder\.json$/.test(name))
    .sort();
}
