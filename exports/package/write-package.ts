/**
 * Writes exports: tables as files in a folder with a `datapackage.json`. In: tables (names, columns, ordered rows) and a destination.
 * Out: that folder, complete or absent. The same tables give the same bytes, so there is no clock here. It knows neither
 * mirrors nor SQL.
 */
import { chmodSync, existsSync, lstatSync, readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fileMode } from "../../src/platform/atomic-file.ts";
import { isSystemError } from "../../src/platform/errors.ts";
import { type Flush, withBackgroundFlushes, writeHashedFile } from "../../src/platform/files/long-files.ts";
import { requireNotOwnFolder } from "../../src/platform/files/replaceable-files.ts";
import {
  inNewFolders,
  makePartialFolder,
  recoverFolder,
  replaceFolder,
  syncFolder,
} from "../../src/platform/folders.ts";
import { ExportError } from "../errors.ts";
import { companionsOf } from "./companions/companions.ts";
import {
  type EmptyTable,
  type ExportedState,
  type HashedFile,
  notAPackage,
  type PackageContents,
  type Publication,
  readPackageContents,
} from "./descriptor.ts";
import { descriptorName } from "./names.ts";
import { descriptorText, toDescriptor } from "./to-descriptor.ts";
import { verifyFiles } from "./verify/verify-package.ts";
import { type WriteTablesRequest, writeTables } from "./write-tables.ts";

export interface DataPackageRequest extends WriteTablesRequest {
  /** The folder to make, and the missing folders above it. An earlier data package there is replaced. */
  readonly out: string;
  /** The state that the tables are of, for the descriptor. */
  readonly state: ExportedState;
  /** Named in the descriptor. Default: none. */
  readonly emptyTables?: readonly EmptyTable[];
  readonly publication?: Publication;
  /** Armoire's version, for the descriptor. */
  readonly toolVersion: string;
}

export interface WrittenPackage extends PackageContents {
  /** The absolute path. */
  readonly folder: string;
  /** Whether the folder held this state before, whenever that was checked; then it was left as it was. */
  readonly isUnchanged: boolean;
}

/**
 * Writes a data package. On any error, the earlier content of `out` is unchanged and nothing is left beside it.
 * @throws ExportError; FileError `not-replaceable`; what a table's rows throw; the signal's reason
 */
export async function writeDataPackage(request: DataPackageRequest): Promise<WrittenPackage> {
  const out = resolve(request.out);
  requireNotOwnFolder(out);
  try {
    return await inNewFolders(out, request.isPrivate === true, () => replacePackage(out, request));
  } catch (error) {
    if (!isSystemError(error)) throw error;
    const hint = "Make room or choose another folder. Earlier content there is unchanged.";
    throw new ExportError("write-failed", `Cannot write ${out}: ${error.message}`, hint, { cause: error });
  }
}

async function replacePackage(out: string, request: DataPackageRequest): Promise<WrittenPackage> {
  await recoverFolder(out);
  await requireReplaceable(out);
  const folder = await makePartialFolder(out);
  try {
    const contents = await writeFolder(folder, request);
    await requireReplaceable(out);
    request.signal?.throwIfAborted();
    const isUnchanged = await isSamePackage(folder, out);
    if (isUnchanged) await rm(folder, { recursive: true, force: true });
    else await replaceFolder(folder, out);
    return { ...contents, folder: out, isUnchanged };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Descriptors have the hashes of all other files. A run without changes makes the time of the last check later, which
 * descriptor and README state: that alone is no new state.
 */
async function isSamePackage(folder: string, out: string): Promise<boolean> {
  if (!existsSync(join(out, descriptorName))) return false;
  const [written, present] = [folder, out].map((place) => withoutFreshness(join(place, descriptorName)));
  return isDeepStrictEqual(written, present) && (await verifyFiles(out)).problems.length === 0;
}

function withoutFreshness(descriptorFile: string): unknown {
  return JSON.parse(readFileSync(descriptorFile, "utf8"), (key, value) => {
    if (["oldestCheckAt", "newestCheckAt", "descriptorHash"].includes(key)) return null;
    return value?.path === "README.md" ? null : value;
  });
}

/** Durable on return. */
async function writeFolder(folder: string, request: DataPackageRequest): Promise<PackageContents> {
  const contents = await withBackgroundFlushes((flush) => writeFiles(folder, request, flush));
  // The partial folder was private.
  if (!request.isPrivate) chmodSync(folder, 0o777 & ~process.umask());
  syncFolder(folder);
  return contents;
}

async function writeFiles(
  folder: string,
  request: DataPackageRequest,
  flush: Flush,
): Promise<PackageContents> {
  const options = { signal: request.signal, mode: fileMode(request.isPrivate), flush };
  const files = await writeTables(folder, request, flush);
  const { toolVersion, state, coverage, csv = "guarded", references = [], publication = {} } = request;
  const tables: PackageContents = {
    toolVersion,
    state,
    ...(coverage && { coverage: { ...coverage, kinds: [...coverage.kinds] } }),
    csv,
    files,
    ...(request.emptyTables?.length && { emptyTables: request.emptyTables }),
    companions: [],
  };
  const companions: HashedFile[] = [];
  for (const { path, text } of companionsOf(tables, references, publication)) {
    const { bytes, sha256 } = await writeHashedFile(join(folder, path), [text], options);
    companions.push({ path, bytes, sha256 });
  }
  const contents = { ...tables, companions };
  const text = descriptorText(toDescriptor(contents, references, publication));
  await writeHashedFile(join(folder, descriptorName), [text], options);
  return contents;
}

/** An empty folder can be used, and so can a data package without other files. @throws ExportError */
async function requireReplaceable(out: string): Promise<void> {
  const stats = lstatSync(out, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) {
    const hint = "Give the folder that it points to, or choose another one.";
    throw new ExportError("symbolic-link", `${out} is a symbolic link; exports do not replace links.`, hint);
  }
  if (!stats.isDirectory()) throw notAPackage(out, "it is not a folder");
  const names = await readdir(out);
  if (names.length === 0) return;
  const { files, companions } = await readPackageContents(out);
  const ours = new Set([descriptorName, ...[...files, ...companions].map(({ path }) => path)]);
  const other = names.find((name) => !ours.has(name));
  if (other !== undefined)
    throw notAPackage(out, `it holds ${other}, which its ${descriptorName} does not list`);
}
