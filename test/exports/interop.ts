/**
 * `npm run interop`: loads exports with Debian's pandas, R and LibreOffice, and compares what they see with the mirror. Exit
 * code 1 if a program sees something else, or is missing.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import Database from "better-sqlite3";
import { exportMirror } from "../../exports/export-mirror.ts";
import { compressions } from "../../exports/formats/compression.ts";
import { type CsvProfile, csvProfiles, readCsvRows } from "../../exports/formats/csv.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

/** Names that a program without types would change. */
const awkward = ["012", "null", "NA", "=1+1", "'s", 'a "b", c', "1e5", "TRUE", "Édith", "日本"];

const pandasScript = `
import json, load
frames = load.load_all()
size, model, brand = frames["size"], frames["model"], frames["brand"]
print(json.dumps({
    "rows": {name: len(frame) for name, frame in frames.items()},
    "bands": int(size["band"].sum()),
    "discontinued": int(model["is_discontinued"].sum()),
    "names": sorted(brand["name"]),
    "types": [str(size["band"].dtype), str(model["is_discontinued"].dtype), str(size["first_seen_at"].dtype)],
    "systems": sorted(size["alternative_sizes"][0]),
}))`;

/** In the C locale, and from another folder. */
const rScript = (folder: string) => `
source(${JSON.stringify(join(folder, "load.R"))})
loaded <- lapply(names(armoire_tables), load_table)
size <- load_table("size"); model <- load_table("model"); brand <- load_table("brand")
writeLines(as.character(c(nrow(size), sum(size$band, na.rm = TRUE), sum(model$is_discontinued, na.rm = TRUE),
    class(size$band), class(model$is_discontinued), class(size$first_seen_at)[1])))
cat(paste(names(armoire_tables), sapply(loaded, nrow), collapse = "|"), "\n", sep = "")
writeLines(enc2utf8(paste(sort(brand$name, method = "radix"), collapse = "|")), useBytes = TRUE)`;

let failures = 0;
const print = (text: string) => void process.stdout.write(`${text}\n`);

function compare(what: string, seen: unknown, expected: unknown): void {
  const isSame = isDeepStrictEqual(seen, expected);
  print(`${isSame ? "ok     " : "FAILED "} ${what}`);
  if (isSame) return;
  failures++;
  print(`  seen      ${JSON.stringify(seen)}\n  expected  ${JSON.stringify(expected)}`);
}

/** @returns null if there is no such program, which counts as a failure */
function start(what: string, file: string, args: readonly string[], folder: string): string | null {
  try {
    const env = { ...process.env, LC_ALL: "C" };
    return execFileSync(file, args, {
      cwd: folder,
      env,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  } catch (error) {
    failures++;
    print(`FAILED  ${what}: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

interface Expected {
  readonly rows: Readonly<Record<string, number>>;
  readonly bands: number;
  readonly discontinued: number;
  readonly names: readonly string[];
  readonly systems: readonly string[];
}

function readExpected(rig: Rig, tables: readonly string[]): Expected {
  return rig.read(({ db }) => {
    const one = (sql: string) => db.prepare(sql).pluck().get() as number;
    return {
      rows: Object.fromEntries(tables.map((table) => [table, one(`select count(*) from ${table}`)])),
      bands: one("select sum(band) from size"),
      discontinued: one("select sum(is_discontinued) from model"),
      names: (db.prepare("select name from brand").pluck().all() as string[]).sort(),
      systems: Object.keys(
        JSON.parse(String(one("select alternative_sizes from size order by href limit 1"))),
      ).sort(),
    };
  });
}

function checkPandas(profile: string, folder: string, expected: Expected): void {
  // Debian's own Python has Debian's pandas.
  const output = start("pandas (Debian: python3-pandas)", "/usr/bin/python3", ["-c", pandasScript], folder);
  if (output === null) return;
  const types = ["Int64", "boolean", "datetime64[ns, UTC]"];
  compare(`pandas, ${profile}: rows, types, sums and names`, JSON.parse(output), { ...expected, types });
}

function checkR(profile: string, folder: string, { rows, bands, discontinued, names }: Expected): void {
  const output = start("R (Debian: r-base-core)", "Rscript", ["-e", rScript(folder)], dirname(folder));
  if (output === null) return;
  const figures = [rows.size, bands, discontinued].map(String);
  const counts = Object.entries(rows).map(([table, count]) => `${table} ${count}`);
  compare(
    `R, ${profile}: rows, types, sums and names`,
    output,
    [...figures, "numeric", "logical", "POSIXct", counts.join("|"), `${names.join("|")}\n`].join("\n"),
  );
}

/** Both scripts fail for a table that is not there, and if a file has fewer rows than the package. */
function checkErrors(folder: string): void {
  checkError("an unknown table", "nope", /nope: not in this export, or without rows/, folder);
  const path = join(folder, "brand.csv");
  const text = readFileSync(path, "utf8");
  // A row begins with its address.
  writeFileSync(path, text.slice(0, text.lastIndexOf("\nhttp") + 1));
  checkError("a lost row", "brand", /brand\.csv: \d+ rows were read instead of \d+/, folder);
}

function checkError(what: string, table: string, message: RegExp, folder: string): void {
  const runs = [
    ["/usr/bin/python3", "-c", `import load; load.load('${table}')`],
    ["Rscript", "-e", `source("load.R"); load_table("${table}")`],
  ];
  for (const [file = "", ...args] of runs) {
    const { status, stderr } = spawnSync(file, args, { cwd: folder, encoding: "utf8" });
    compare(`${file}: ${what} is an error`, [status, message.test(stderr)], [1, true]);
  }
}

/** Names stay text: as a person sees them in a spreadsheet, with the apostrophe where the profile adds one. */
function checkLibreOffice(profile: CsvProfile, folder: string): void {
  const output = start(
    "LibreOffice (Debian: libreoffice-calc-nogui)",
    "soffice",
    [
      ...[`-env:UserInstallation=file://${libreOfficeFolder}`, "--headless"],
      // Commas, double quotes, UTF-8; quoted fields stay text, and formulas are not evaluated.
      ...["--infilter=Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false"],
      ...[
        "--convert-to",
        "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true",
        "--outdir",
        "seen",
        "brand.csv",
      ],
    ],
    folder,
  );
  if (output === null) return;
  const hrefsIn = (path: string) =>
    [...readCsvRows(readFileSync(path, "utf8").replaceAll("\r\n", "\n").split("\n"), "exact")]
      .map(([href]) => href)
      .filter((href) => href !== null && href !== undefined && href !== "");
  compare(
    `LibreOffice, ${profile}: every row of brands`,
    hrefsIn(join(folder, "seen", "brand.csv")),
    hrefsIn(join(folder, "brand.csv")),
  );
}

/** For its settings. */
const libreOfficeFolder = mkdtempSync(join(tmpdir(), "libreoffice-"));
await using rig = await startRig({ brands: 20, models: 60, sizes: 300 });
await rig.sync();
const db = new Database(rig.file);
for (const [n, name] of awkward.entries())
  db.prepare(
    "update _brand set name = ? where id = (select id from _brand order by id limit 1 offset ?)",
  ).run(...[name, n]);
db.close();
for (const csv of csvProfiles) {
  const { folder, files } = await exportMirror({
    ...{ file: rig.file, out: join(dirname(rig.file), csv), formats: ["csv"], tables: [], csv },
    toolVersion: "0.1.0",
  });
  const expected = readExpected(
    rig,
    files.map(({ table }) => table),
  );
  checkPandas(csv, folder, expected);
  checkR(csv, folder, expected);
  checkLibreOffice(csv, folder);
  checkErrors(folder);
}
for (const compression of compressions) {
  const { folder, files } = await exportMirror({
    ...{
      file: rig.file,
      out: join(dirname(rig.file), compression),
      formats: ["csv"],
      tables: [],
      compression,
    },
    toolVersion: "0.1.0",
  });
  const expected = readExpected(
    rig,
    files.map(({ table }) => table),
  );
  // pandas reads Zstandard only with a package that Debian's does not need.
  if (compression === "gzip") checkPandas(compression, folder, expected);
  checkR(compression, folder, expected);
}
rmSync(libreOfficeFolder, { recursive: true });
process.exitCode = failures === 0 ? 0 : 1;
