import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hashFile } from "../src/platform/atomic-file.ts";
import { type Manifest, type ManifestFile, manifestName, readManifest } from "./manifest.ts";

export interface PackageProblem {
  /** The file's name in the package. */
  readonly path: string;
  readonly code: "missing" | "not-a-file" | "wrong-size" | "wrong-hash" | "not-listed";
}

export interface PackageReport {
  readonly manifest: Manifest;
  /** Empty: every file is byte for byte as written. This detects damage but no forgery: a forger can write a manifest too. */
  readonly problems: readonly PackageProblem[];
}

/**
 * Checks every file of a data package against its manifest.
 * @throws ExportError if the manifest cannot be read; a system error if a file cannot be read
 */
export async function verifyDataPackage(folder: string): Promise<PackageReport> {
  const manifest = await readManifest(folder);
  const problems: PackageProblem[] = [];
  for (const file of manifest.files) {
    const code = await findProblem(folder, file);
    if (code !== null) problems.push({ path: file.path, code });
  }
  const listed = new Set([manifestName, ...manifest.files.map((file) => file.path)]);
  for (const path of (await readdir(folder)).sort()) {
    if (!listed.has(path)) problems.push({ path, code: "not-listed" });
  }
  return { manifest, problems };
}

async function findProblem(folder: string, file: ManifestFile): Promise<PackageProblem["code"] | null> {
  const path = join(folder, file.path);
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  if (!stats.isFile()) return "not-a-file";
  if (stats.size !== file.bytes) return "wrong-size";
  return (await hashFile(path)).sha256 === file.sha256 ? null : "wrong-hash";
}
