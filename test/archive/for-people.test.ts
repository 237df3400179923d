/** What archives have for people without Armoire: tables as a Data Package, and the page of an account. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { verifyDataPackage } from "../../exports/package/verify/verify-package.ts";
import { kinds } from "../../jobs/kinds.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { createSnapshot } from "../../src/archive/snapshot/create.ts";
import { openSnapshot, verifySnapshot } from "../../src/archive/snapshot/open.ts";
import { verifyBackup } from "../../src/archive/verify.ts";
import { renderBackupPage } from "../../src/cli/format/operations/backup-page.ts";
import { loadSnapshots } from "../../src/mirror/load/load-snapshot.ts";
import { readMirror } from "../../src/mirror/reader.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { urlOf } from "../mirror/support/world.ts";
import { readCsv } from "../support/read-csv.ts";
import { accountWorld } from "./support/account-world.ts";
import { startBackupRig } from "./support/backup-rig.ts";
import { forgeZip } from "./support/forge-zip.ts";
import { takeApart } from "./support/forgery.ts";
import { catalogueWorld } from "./support/linked-catalogue-rig.ts";

const renderPage = renderBackupPage;

it("the tables of a backup are a Data Package, as an export makes it", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  const { file } = await rig.create("a.zip");
  await unpackBackup({ file, folder: rig.path("open") });
  const { contents, problems } = await verifyDataPackage(rig.path("open/tables"));
  expect(problems).toEqual([]);
  expect(contents.files.filter(({ table }) => table === "bra")).toMatchObject([
    ...[{ format: "csv", rows: 2 }, { format: "json" }],
  ]);
  writeFileSync(rig.path("open/tables/bra.csv"), "href\n");
  expect((await verifyDataPackage(rig.path("open/tables"))).problems).toMatchObject([{ path: "bra.csv" }]);
});

it("the page in a backup is the same for the same state, and is not among the unpacked files", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  const first = await rig.create("a.zip", { renderPage });
  const page = (await takeApart(await readFile(first.file))).find(({ name }) => name === "page.html");
  expect(page?.content.toString()).toContain("Bras of ada");
  expect(page?.content.toString()).toContain("armoire backup verify FILE");
  await rig.restore("a.zip", "new.sqlite");
  const again = await rig.create("b.zip", { renderPage, mirror: rig.path("new.sqlite") });
  expect(again.rootHash).toBe(first.rootHash);
  await unpackBackup({ file: first.file, folder: rig.path("open") });
  expect(existsSync(rig.path("open/README.txt"))).toBe(true);
  expect(existsSync(rig.path("open/page.html"))).toBe(false);
});

it("a changed page or description is found like any other damage", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  const { file } = await rig.create("a.zip", { renderPage });
  const entries = await takeApart(await readFile(file));
  for (const changed of ["page.html", "tables/datapackage.json"]) {
    const forged = entries.map((one) =>
      one.name === changed ? { ...one, content: Buffer.from("{}") } : one,
    );
    writeFileSync(rig.path("forged.zip"), forgeZip(forged));
    const { problems } = await verifyBackup({ file: rig.path("forged.zip") });
    expect(problems.map(({ entry }) => entry)).toEqual([changed]);
  }
});

async function startCatalogue() {
  const rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, catalogueWorld());
  crawl(mirror, catalogueWorld(["a", "b"]), { approve: true });
  const create = (withTables: boolean) =>
    createSnapshot({
      ...{ mirror: rig.file, to: join(rig.folder, `${withTables}.zip`), license: "CC0-1.0", withTables },
    });
  return { ...rig, mirror, create };
}

it("a snapshot has tables on request: of its resources, with times of a day, and a load shows the same", async () => {
  await using rig = await startCatalogue();
  const plain = await rig.create(false);
  const { file, rootHash } = await rig.create(true);
  expect(rootHash).not.toBe(plain.rootHash);
  expect((await verifySnapshot({ file })).problems).toEqual([]);
  const tables = join(rig.folder, "tables");
  mkdirSync(tables);
  for (const { name, content } of await takeApart(await readFile(file)))
    if (name.startsWith("tables/")) writeFileSync(join(rig.folder, name), content);
  expect(readdirSync(tables)).toEqual(["brand.csv", "datapackage.json", "model.csv", "size.csv"]);
  const { contents, problems } = await verifyDataPackage(tables);
  expect(problems).toEqual([]);
  expect(contents.state).toEqual({ baseUrl: urlOf(""), run: null, endedAt: null });
  for (const text of readdirSync(tables).map((name) => readFileSync(join(tables, name), "utf8")))
    for (const [time] of text.matchAll(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g))
      expect(time).toMatch(/T00:00:00.000Z$/);
  const [head = [], ...rows] = readCsv(readFileSync(join(tables, "brand.csv"), "utf8"));
  const names = head.map(({ text }) => text);
  expect(names).not.toContain("confirmed");
  const loaded = join(rig.folder, "loaded.sqlite");
  const now = () => Date.parse("2026-02-01T00:00:00.000Z");
  await loadSnapshots({ file: loaded, sources: [await openSnapshot(file)], kinds, now });
  const brands = readMirror(loaded, ({ db }) =>
    db.prepare("select href, name, gone_at is not null as gone from brand order by href").raw().all(),
  );
  const cellOf = (row: (typeof rows)[number], name: string) => row[names.indexOf(name)]?.text;
  expect(
    rows.map((row) => [...["href", "name"].map((name) => cellOf(row, name)), cellOf(row, "gone_at") ? 1 : 0]),
  ).toEqual(brands);
});

it("a mirror that a run for an account has filled gives no tables", async () => {
  await using rig = await startCatalogue();
  const run = rig.mirror.beginRun({
    ...{ startedAt: "2026-01-16T12:00:00.000Z", mode: "incremental" },
    scope: { only: 1, credential: "none" },
  });
  expect(run).toBe(3);
  await expect(rig.create(true)).rejects.toMatchObject({ code: "not-shareable" });
  expect((await rig.create(false)).isNew).toBe(true);
});
