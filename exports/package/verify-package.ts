import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hashFile } from "../../src/platform/atomic-file.ts";
import { descriptorName, type HashedFile, type PackageContents, readPackageContents } from "./descriptor.ts";

export interface PackageProblem {
  /** The file's name in the package. */
  readonly path: string;
  readonly code: "missing" | "not-a-file" | "wrong-size" | "wrong-hash" | "not-listed";
}

export interface PackageReport {
  readonly contents: PackageContents;
  /** Empty: every file is byte for byte as written. This detects damage but no forgery: a forger can write a descriptor too. */
  readonly problems: readonly PackageProblem[];
}

/**
 * Checks every file of a data package against its descriptor.
 * @throws ExportError if the descriptor cannot be read; a system error if a file cannot be read
 */
export async function verifyDataPackage(folder: string): Promise<PackageReport> {
  const contents = await readPackageContents(folder);
  const problems: PackageProblem[] = [];
  const files: readonly HashedFile[] = [...contents.files, ...contents.companions];
  const distinct = new Map(files.map((file) => [file.path, file]));
  for (const file of distinct.values()) {
    const code = await findProblem(folder, file);
    if (code !== null) problems.push({ path: file.path, code });
  }
  const listed = new Set([descriptorName, ...files.map(({ path }) => path)]);
  for (const path of (await readdir(folder)).sort()) {
    if (!listed.has(path)) problems.push({ path, code: "not-listed" });
  }
  return { contents, problems };
}

async function findProblem(folder: string, file: HashedFile): Promise<PackageProblem["code"] | null> {
  const path = join(folder, file.path);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  if (!stats.isFile()) return "not-a-file";
  if (stats.size !== file.bytes) return "wrong-size";
  return (await hashFile(path)).sha256 === file.sha256 ? null : "wrong-hash";
}
