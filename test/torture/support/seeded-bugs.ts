/** Bugs that the torture must find: each a replacement in a copy of the sources, and where it shows. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ModeName } from "./modes.ts";
import type { Operation } from "./operations.ts";

export interface SeededBug {
  readonly name: string;
  readonly file: string;
  readonly replace: readonly (readonly [text: string, by: string])[];
  readonly command: string;
  readonly mode: ModeName;
  readonly only: (operation: Operation, index: number, operations: readonly Operation[]) => boolean;
  /** At most so many points. */
  readonly points: number;
}

const atEnd: SeededBug["only"] = (_operation, index, operations) =>
  !operations.slice(index + 1).some(({ op }) => op !== "read" && op !== "openForReading");
const flushes: SeededBug["only"] = ({ op }) => op === "sync";
const flushesOf =
  (ending: string): SeededBug["only"] =>
  ({ op, path }) =>
    op === "sync" && path.endsWith(ending);
/** Between these shares of all operations. */
const between =
  (from: number, to: number): SeededBug["only"] =>
  (_operation, index, { length }) =>
    index >= from * length && index < to * length;
const after =
  (op: Operation["op"], count: number): SeededBug["only"] =>
  (_operation, index, operations) =>
    operations.slice(Math.max(0, index - count), index + 1).some((before) => before.op === op);

export const seededBugs: readonly SeededBug[] = [
  {
    name: "the folder of a renamed file is not flushed",
    file: "src/platform/atomic-file.ts",
    replace: [
      ["  renameSync(temporary, place);\n  syncFolder(dirname(place));", "  renameSync(temporary, place);"],
    ],
    ...{ command: "backup create", mode: "power cut", only: atEnd, points: 1 },
  },
  {
    name: "new folders are not flushed in their parents",
    file: "src/platform/folders.ts",
    replace: [["  try {\n    syncFolder(dirname(path));\n  } catch", "  try {\n  } catch"]],
    ...{ command: "first sync", mode: "power cut", only: atEnd, points: 1 },
  },
  {
    name: "a new file is not flushed before it is renamed",
    file: "src/platform/files/long-files.ts",
    replace: [["  try {\n    await file.sync();\n", "  try {\n"]],
    ...{ command: "export", mode: "power cut, names kept", only: atEnd, points: 1 },
  },
  {
    name: "an error of closing a file that was not flushed is ignored",
    file: "src/platform/atomic-file.ts",
    replace: [
      [
        "      writeFileSync(handle, content);\n      fsyncSync(handle);\n",
        "      writeFileSync(handle, content);\n",
      ],
      [
        "    } finally {\n      closeSync(handle);\n    }\n  } catch (error) {\n    removeFile(path);",
        "    } finally {\n      try {\n        closeSync(handle);\n      } catch {}\n    }\n  } catch (error) {\n    removeFile(path);",
      ],
    ],
    ...{ command: "account add", mode: "EIO", only: ({ op }) => op === "close", points: 12 },
  },
  {
    name: "an error of flushing a file is ignored",
    file: "src/platform/files/long-files.ts",
    replace: [["undefined) await file.sync();", "undefined) await file.sync().catch(() => {});"]],
    ...{ command: "backup create", mode: "EIO", only: flushes, points: 3 },
  },
  {
    name: "an error of flushing a file in the background is ignored",
    file: "src/platform/files/long-files.ts",
    replace: [["    await Promise.all(flushes);\n", ""]],
    // In the background, flushes come before or after other operations than in the recorded run: some points miss them.
    ...{ command: "export", mode: "EIO", only: flushes, points: 12 },
  },
  {
    name: "commits are not flushed (synchronous = NORMAL)",
    file: "src/mirror/file/connection.ts",
    replace: [['db.pragma("synchronous = FULL")', 'db.pragma("synchronous = NORMAL")']],
    ...{ command: "first sync", mode: "power cut", only: between(0.7, 0.85), points: 4 },
  },
  {
    name: "the ETag of a response is stored before its body",
    file: "src/mirror/ingest.ts",
    replace: [
      [
        "    bodies.makeDictionaries();\n    return transaction",
        `    bodies.makeDictionaries();
    for (const result of results)
      if (result.outcome === "body")
        resources.setHeld.run({ id: result.resourceId, etag: result.etag, run: runId, at: Date.parse(result.fetchedAt) });
    return transaction`,
      ],
    ],
    ...{ command: "second sync", mode: "power cut", only: flushes, points: 16 },
  },
  {
    name: "a new mirror is renamed before it is flushed",
    file: "src/mirror/file/create-mirror.ts",
    replace: [
      ["    closeWritten(db);\n", '    db.pragma("synchronous = OFF");\n    closeWritten(db);\n'],
      ["    syncFile(temporary);\n", ""],
    ],
    ...{ command: "first sync", mode: "power cut, names kept", only: after("rename", 3), points: 4 },
  },
  {
    name: "an error of the checkpoint at closing is ignored",
    file: "src/mirror/file/connection.ts",
    replace: [['    if (db.pragma("journal_mode", { simple: true }) === "wal") truncateLog(db);\n', ""]],
    ...{ command: "mirror rebuild", mode: "EIO", only: flushesOf("/catalogue.sqlite"), points: 2 },
  },
  {
    name: "each statement of a migration commits by itself",
    file: "src/mirror/file/migrate.ts",
    replace: [
      ['  db.exec("begin immediate");\n', ""],
      ['    db.exec("commit");\n', ""],
    ],
    ...{ command: "migration", mode: "power cut", only: flushes, points: 8 },
  },
  {
    name: "an earlier export is removed before the new one is in its place",
    file: "src/platform/folders.ts",
    replace: [
      [
        "  const replaces = await renameIfPresent(place, replaced);\n",
        "  await rm(place, { recursive: true, force: true });\n  const replaces = false;\n",
      ],
    ],
    ...{ command: "export over an earlier one", mode: "kill", only: ({ op }) => op === "unlink", points: 6 },
  },
  {
    name: "a picture is recorded before it is flushed",
    file: "src/mirror/media/media-files.ts",
    replace: [
      [
        "  replaceFile(mediaFile(mirrorFile, { sha256, type }), bytes);\n",
        "  writeFileSync(mediaFile(mirrorFile, { sha256, type }), bytes, { mode: 0o600 });\n",
      ],
      ["  rmSync,\n", "  rmSync,\n  writeFileSync,\n"],
    ],
    ...{ command: "sync of an account with pictures", mode: "power cut", only: atEnd, points: 1 },
  },
];

const repository = join(import.meta.dirname, "../../..");
const copied = ["src", "schema", "jobs", "exports", "package.json"];
const programs = ["test/support/armoire-from-sources.ts", "test/torture/migrating.ts"];

/** Copies the sources into a new folder, with the bug in them. @throws Error if a text to replace is not there once */
export function copyWithBug(folder: string, { file, replace }: Pick<SeededBug, "file" | "replace">): void {
  for (const name of [...copied, ...programs])
    cpSync(join(repository, name), join(folder, name), { recursive: true });
  mkdirSync(folder, { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  const path = join(folder, file);
  let text = readFileSync(path, "utf8");
  for (const [from, to] of replace) {
    if (text.split(from).length !== 2) throw new Error(`${file} does not have exactly once: ${from}`);
    text = text.replace(from, () => to);
  }
  writeFileSync(path, text);
}
