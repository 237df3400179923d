/** Checks a data package against its descriptor: the bytes of its files, and the rows in them. */
import { createHash } from "node:crypto";
import { createReadStream, lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hashFile } from "../../../src/platform/files/long-files.ts";
import { decompress } from "../../formats/compression.ts";
import { isTextFormat } from "../../formats/table.ts";
import {
  type DescribedPackage,
  type HashedFile,
  type PackageContents,
  type PackageFile,
  readDescriptor,
} from "../descriptor.ts";
import { lineSplitter, maxDecompressedBytes } from "../lines.ts";
import { descriptorName } from "../names.ts";
import { isRowError, openRowChecks, type RowCheck, type RowChecks, type RowProblem } from "./check-rows.ts";
import { checkParquet, checkSqlite } from "./check-typed.ts";

export interface PackageProblem {
  /** The file's name in the package. */
  readonly path: string;
  readonly code: "missing" | "not-a-file" | "wrong-size" | "wrong-hash" | "not-listed" | RowProblem;
}

/** What `verifyDataPackage` found. */
export interface PackageReport {
  readonly contents: PackageContents;
  /**
   * Empty: every file is byte for byte as written, and its rows are as stated. This detects damage but no forgery: a forger can
   * write a descriptor too.
   */
  readonly problems: readonly PackageProblem[];
}

/**
 * Checks every file of a data package against its descriptor, in one reading: size, SHA-256, and the number of rows. Rows of
 * CSV, JSON and NDJSON must parse, in the order of their unique keys, with references to rows that are there.
 * @throws ExportError if the descriptor cannot be read; a system error if a file cannot be read
 */
export async function verifyDataPackage(folder: string): Promise<PackageReport> {
  const described = await readDescriptor(folder);
  const { contents, constraintsOf } = described;
  const checks = openRowChecks(contents.csv);
  try {
    const sound = new Set<string>();
    const report = await verify(folder, described, async (file) => {
      const place = join(folder, file.path);
      const tables = contents.files.filter(({ path }) => path === file.path);
      const [table] = tables;
      if (table !== undefined && isTextFormat(table.format)) {
        const check = checks.start(table, constraintsOf(table));
        const { sha256, problems } = await readTextFile(place, table, check);
        if (sha256 !== file.sha256) return ["wrong-hash"];
        if (problems.length === 0) sound.add(file.path);
        return problems;
      }
      if ((await hashFile(place)).sha256 !== file.sha256) return ["wrong-hash"];
      if (table?.format === "parquet") return await checkParquet(place, table.rows);
      if (table?.format !== "sqlite") return [];
      return await checkSqlite(place, Object.fromEntries(tables.map(({ table, rows }) => [table, rows])));
    });
    return { ...report, problems: [...report.problems, ...brokenReferences(checks, sound)] };
  } finally {
    checks.close();
  }
}

const brokenReferences = (checks: RowChecks, sound: ReadonlySet<string>): PackageProblem[] =>
  checks.findBrokenReferences(sound).map((path) => ({ path, code: "broken-reference" }));

/** As `verifyDataPackage`, but only the bytes: for a package whose rows the caller has just written again. */
export async function verifyFiles(folder: string): Promise<PackageReport> {
  return await verify(folder, await readDescriptor(folder), async (file) =>
    (await hashFile(join(folder, file.path))).sha256 === file.sha256 ? [] : ["wrong-hash"],
  );
}

async function verify(
  folder: string,
  { contents, isIntact }: DescribedPackage,
  checkContent: (file: HashedFile) => Promise<readonly PackageProblem["code"][]>,
): Promise<PackageReport> {
  const problems: PackageProblem[] = [];
  if (!isIntact) problems.push({ path: descriptorName, code: "wrong-hash" });
  const files: readonly HashedFile[] = [...contents.files, ...contents.companions];
  const distinct = new Map(files.map((file) => [file.path, file]));
  for (const file of distinct.values()) {
    const code = findFileProblem(folder, file);
    const codes = code === null ? await checkContent(file) : [code];
    problems.push(...codes.map((code) => ({ path: file.path, code })));
  }
  const listed = new Set([descriptorName, ...files.map(({ path }) => path)]);
  for (const path of (await readdir(folder)).sort()) {
    if (!listed.has(path)) problems.push({ path, code: "not-listed" });
  }
  return { contents, problems };
}

function findFileProblem(folder: string, file: HashedFile): PackageProblem["code"] | null {
  const stats = lstatSync(join(folder, file.path), { throwIfNoEntry: false });
  if (stats === undefined) return "missing";
  if (!stats.isFile()) return "not-a-file";
  return stats.size === file.bytes ? null : "wrong-size";
}

/** Hashes the file and checks its rows on the way. After a row that does not parse, it is only hashed. */
async function readTextFile(path: string, file: PackageFile, check: RowCheck) {
  const digest = createHash("sha256");
  const bytes = hashed(createReadStream(path), (chunk) => digest.update(chunk));
  const { compression } = file;
  const limits = { path, maxBytes: maxDecompressedBytes(file) };
  const text = compression === undefined ? bytes : decompress(bytes, compression, limits);
  let problems: readonly RowProblem[];
  try {
    const splitter = lineSplitter();
    for await (const chunk of text) for (const line of splitter.add(chunk)) check.add(line);
    for (const line of splitter.end()) check.add(line);
    problems = check.end();
  } catch (error) {
    if (!isRowError(error)) throw error;
    return { sha256: (await hashFile(path)).sha256, problems: ["unreadable"] as const };
  }
  return { sha256: digest.digest("hex"), problems };
}

async function* hashed(chunks: AsyncIterable<Buffer>, add: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    add(chunk);
    yield chunk;
  }
}
