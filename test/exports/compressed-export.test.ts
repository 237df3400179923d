/** Exports with compressed files: the same data as without, for Armoire, DuckDB and gzip itself. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { exportMirror } from "../../exports/export-mirror.ts";
import { type Compression, compressions } from "../../exports/formats/compression.ts";
import type { ExportFormat, Row } from "../../exports/formats/table.ts";
import { readPackageContents } from "../../exports/package/descriptor.ts";
import { openLines } from "../../exports/package/lines.ts";
import { readDataPackage } from "../../exports/package/read-package.ts";
import { verifyDataPackage } from "../../exports/package/verify/verify-package.ts";
import { writeDataPackage } from "../../exports/package/write-package.ts";
import { openDiff } from "../../src/change/open-diff.ts";
import { expectUnreadable } from "../support/canary.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { folderState, makeTestFolder } from "./support/folder-state.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 4, models: 12, sizes: 40 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

async function exportTo(name: string, formats: readonly ExportFormat[], compression?: Compression) {
  return await exportMirror({
    ...{ file: rig.file, out: join(rig.file, "..", name), formats, tables: [], toolVersion: "0.1.0" },
    ...(compression && { compression }),
  });
}

const decompressors = { gzip: gunzipSync, zstd: zstdDecompressSync };
const endings = { gzip: "gz", zstd: "zst" };

describe.each(compressions)("with %s", (compression) => {
  const ending = endings[compression];

  it("each text file is compressed, says so, and holds the bytes of the plain one", async () => {
    const formats = ["csv", "json", "ndjson", "parquet"] as const;
    const plain = await exportTo("plain", formats);
    const { folder, files } = await exportTo(`all-${compression}`, formats, compression);
    expect(files.slice(0, 4).map(({ path }) => path)).toEqual([
      ...[`brand.csv.${ending}`, `brand.json.${ending}`, `brand.ndjson.${ending}`, "brand.parquet"],
    ]);
    for (const [n, file] of files.entries()) {
      const bytes = readFileSync(join(plain.folder, plain.files[n]?.path ?? ""));
      const written = readFileSync(join(folder, file.path));
      if (file.format === "parquet") expect(written).toEqual(bytes);
      else {
        expect(file).toMatchObject({ compression, bytes: written.length, decompressedBytes: bytes.length });
        expect(decompressors[compression](written).equals(bytes)).toBe(true);
      }
    }
    const { resources } = JSON.parse(readFileSync(join(folder, "datapackage.json"), "utf8"));
    expect(resources[0]).toMatchObject({ compression: ending, format: "csv", mediatype: "text/csv" });
    expect(resources[3]).not.toHaveProperty("compression");
    expect((await readPackageContents(folder)).files[0]).toMatchObject({ compression });
    expect((await verifyDataPackage(folder)).problems).toEqual([]);
  });

  it("the same state gives the same bytes, and a second export leaves the folder as it is", async () => {
    const [one, two] = [
      await exportTo(`one-${compression}`, ["csv"], compression),
      await exportTo(`two-${compression}`, ["csv"], compression),
    ];
    expect(await folderState(one.folder)).toEqual(await folderState(two.folder));
    expect((await exportTo(`one-${compression}`, ["csv"], compression)).isUnchanged).toBe(true);
  });

  it("load.sql loads the compressed files into DuckDB", async () => {
    const { folder } = await exportTo(`duck-${compression}`, ["csv"], compression);
    const duck = await (await DuckDBInstance.create(":memory:")).connect();
    await duck.run(`set file_search_path = '${folder}'`);
    await duck.run(readFileSync(join(folder, "load.sql"), "utf8"));
    const loaded = await duck.runAndReadAll("select sum(band)::integer as bands from size");
    const held = rig.read(({ db }) => db.prepare("select sum(band) as bands from size").get());
    expect(loaded.getRowObjectsJson()).toEqual([held]);
  });

  it("diff reads it, and its temporary files have no names", async () => {
    for (const format of ["csv", "ndjson"] as const) {
      const { folder } = await exportTo(`diff-${compression}-${format}`, [format], compression);
      const db = new Database(rig.file);
      const rename = db.prepare("update _brand set name = ? where id = (select min(id) from _brand)");
      rename.run(`renamed ${format}`);
      const later = await exportTo(`later-${compression}-${format}`, ["json"], compression);
      db.close();
      const temporary = await makeTestFolder();
      vi.stubEnv("TMPDIR", temporary);
      const diff = await openDiff({
        ...{ kinds: [], brands: [], fields: [], ignored: [] },
        ...{ from: { kind: "export", path: folder }, to: { kind: "export", path: later.folder } },
      });
      vi.unstubAllEnvs();
      expect([...diff.changes]).toHaveLength(1);
      expect(readdirSync(temporary)).toEqual([]);
      diff.close();
    }
  });

  it("Ctrl-C ends the export between rows and leaves nothing", async () => {
    const parent = await makeTestFolder();
    const interruption = new AbortController();
    let read = 0;
    const table = {
      name: "brand",
      columns: ["n"],
      *rows(): Generator<Row> {
        setImmediate(() => interruption.abort(new Error("interrupted")));
        for (read = 0; read < 2_000_000; read++) yield [read];
      },
    };
    const state = { baseUrl: "https://a.example/", run: 1, endedAt: null };
    const writing = writeDataPackage({
      ...{
        out: join(parent, "out"),
        formats: ["csv"],
        tables: [table],
        state,
        toolVersion: "0",
        compression,
      },
      signal: interruption.signal,
    });
    await expect(writing).rejects.toThrow("interrupted");
    expect(read).toBeLessThan(2_000_000);
    expect(readdirSync(parent)).toEqual([]);
  });

  it("a file that is longer than stated, or not compressed so, is refused", async () => {
    const path = join(await makeTestFolder(), "brand.csv");
    expectUnreadable(path);
    const compress = compression === "gzip" ? gzipSync : zstdCompressSync;
    writeFileSync(path, compress(Buffer.alloc(50_000_000)));
    const reading = openLines(path, { compression, bytes: 1, decompressedBytes: 1_000_000 });
    await expect(reading).rejects.toMatchObject({ code: "damaged-package" });
    writeFileSync(path, compress(Buffer.alloc(70_000_000)));
    const stated = { compression, bytes: 1_000, decompressedBytes: 2 ** 40 };
    await expect(openLines(path, stated)).rejects.toMatchObject({ code: "damaged-package" });
    writeFileSync(path, "plain text, which is not compressed");
    const other = openLines(path, { compression, bytes: 1, decompressedBytes: 1_000_000 });
    await expect(other).rejects.toMatchObject({ code: "damaged-package" });
  });
});

it("a decompressed file with several readers gives each of them all lines", async () => {
  const { folder } = await exportTo("twice", ["ndjson"], "gzip");
  const { tables, close } = await readDataPackage(folder);
  const [table] = tables;
  const [one, two] = [table?.rows()[Symbol.iterator](), table?.rows()[Symbol.iterator]()];
  expect(one?.next()).toEqual(two?.next());
  expect([...(table?.rows() ?? [])].length).toBeGreaterThan(1);
  close();
});
