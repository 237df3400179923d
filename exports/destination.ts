/** Where an export goes, as the user names it, with placeholders; and files that are whole or as they were before. */
import { basename, dirname, resolve } from "node:path";
import type { Coverage } from "../src/mirror/runs/coverage.ts";
import {
  chooseTemporary,
  fileMode,
  type OutputOptions,
  publish,
  writeOutput,
} from "../src/platform/atomic-file.ts";
import { isSystemError } from "../src/platform/errors.ts";
import { flushFile } from "../src/platform/files/long-files.ts";
import { inNewFolders, removeFile } from "../src/platform/folders.ts";
import { withCoverage } from "./coverage-table.ts";
import { ExportError } from "./errors.ts";
import type { FittedTable } from "./formats/fitted-types.ts";
import { writeSqliteFile } from "./formats/sqlite.ts";
import type { ExportedState } from "./package/descriptor.ts";
import type { Reference } from "./package/table-schema.ts";

/**
 * @param out in its last part, `{run}` and `{date}` are replaced
 * @returns the absolute path; the folders above it may be missing
 * @throws ExportError
 */
export function resolveDestination(out: string, state: ExportedState): string {
  const place = resolve(expandName(out, state));
  if (dirname(place) === place) throw badName(`${place} is the root of the file system.`);
  return place;
}

function expandName(out: string, { run, endedAt }: ExportedState): string {
  const unknown = basename(out).match(/\{(?!run\}|date\})\w*\}/)?.[0];
  if (unknown !== undefined) throw badName(`There is no placeholder ${unknown}: ${out}`);
  if (!/\{(run|date)\}/.test(out)) return out;
  if (/\{(run|date)\}/.test(dirname(out)))
    throw badName(`{run} and {date} can only be in the last part of a path: ${out}`);
  if (run !== null && endedAt === null)
    throw new ExportError(
      "nothing-held",
      "The run that would name the folder has not ended.",
      "Wait for the sync, or export the last ended run with --as-of latest.",
    );
  if (run === null || endedAt === null)
    throw new ExportError(
      "nothing-held",
      "The mirror has no ended run to name the folder after.",
      "Run `armoire sync` first, or give --out without {run} and {date}.",
    );
  return out.replaceAll("{run}", String(run)).replaceAll("{date}", endedAt.slice(0, 10));
}

const badName = (message: string) =>
  new ExportError("bad-folder-name", message, "For example: exports/catalogue-{date} or catalogue-{run}.");

export interface TypedFileOptions extends OutputOptions {
  /** Of the tables, which the file then states. Null for rows that do not come from a mirror. */
  readonly coverage: Coverage | null;
}

/**
 * Writes a table to a file of its own, whole or not at all, and the missing folders above it.
 * @throws ExportError; what the table's rows throw; a system error; the signal's reason
 */
export async function writeTypedFile(
  path: string,
  format: "parquet" | "sqlite",
  fitted: FittedTable,
  options: TypedFileOptions,
): Promise<void> {
  if (format === "parquet") {
    // Few exports need it, and it takes long to load.
    const { parquetChunks } = await import("./formats/parquet/chunks.ts");
    const chunks = parquetChunks(fitted.table, fitted.columns, options.coverage);
    return await writeOutput(path, chunks, options);
  }
  await writeDatabase(path, [fitted], [], options);
}

/** Writes tables to a file of their own. @throws as writeTypedFile does */
export async function writeDatabase(
  path: string,
  tables: readonly FittedTable[],
  references: readonly Reference[],
  { signal, isPrivate, coverage }: TypedFileOptions,
): Promise<void> {
  await inNewFolders(path, isPrivate, async () => {
    const temporary = await chooseTemporary(path);
    try {
      await writeSqliteFile(temporary, withCoverage(tables, coverage), references, {
        signal,
        mode: fileMode(isPrivate),
      });
      await flushFile(temporary);
      publish(temporary, path);
    } catch (error) {
      removeFile(temporary);
      throw error;
    }
  });
}

/** A system error as one for the user; any other error as it is. */
export function toWritingError(error: unknown, file: string): unknown {
  if (!isSystemError(error)) return error;
  const hint = "Make room or choose another place. An earlier file there is unchanged.";
  return new ExportError("write-failed", `Cannot write ${file}: ${error.message}`, hint, { cause: error });
}
