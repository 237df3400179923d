/** The memory of a process that prints a row as long as the limits of a query allow. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { defaultLimits } from "../../src/query/sql/limits.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { someOf } from "../support/thorough.ts";

/** 400 MB. */
const maxMebibytes = 381;
const length = defaultLimits.maxCellLength;

/** @returns the number of printed bytes, and the most memory in MiB */
async function print(file: string, sql: string, format: string) {
  const program = join(import.meta.dirname, "support/querying-process.ts");
  // Without the option, the size depends on when V8 happens to collect garbage.
  const child = spawn(process.execPath, ["--max-old-space-size=224", program, file, sql, format]);
  const err = text(child.stderr);
  let bytes = 0;
  for await (const chunk of child.stdout) bytes += chunk.length;
  return { bytes, mebibytes: Number(await err) };
}

/** How many bytes each character of a text takes, as NDJSON and as CSV. */
const longTexts = [
  { what: "letters", unit: "'a'", ndjson: 1, csv: 1 },
  { what: "control characters", unit: "char(1)", ndjson: 6, csv: 1 },
  { what: "quotation marks", unit: "'\"'", ndjson: 2, csv: 2 },
  { what: "ideographs", unit: "'\u4e00'", ndjson: 3, csv: 3 },
  { what: "backslashes", unit: "'\\'", ndjson: 2, csv: 1 },
] as const;

it.each(someOf([...longTexts], 2))("a row of 16 Mi $what takes less than 400 MB to print", async (one) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "a.sqlite");
  new Database(file).exec("create table a (b)").close();
  const sql = `select replace(hex(zeroblob(${length / 2})), '0', ${one.unit}) as a`;
  for (const [format, perCharacter] of [
    ["ndjson", one.ndjson],
    ["json", one.ndjson],
    ["csv", one.csv],
  ] as const) {
    const { bytes, mebibytes } = await print(file, sql, format);
    expect(Math.abs(bytes - perCharacter * length)).toBeLessThan(100);
    expect(mebibytes).toBeLessThan(maxMebibytes);
  }
});
