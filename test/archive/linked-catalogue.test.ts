/** The catalogue part of an account's backup: the brands, models and sizes that its bras link to. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { describe, expect, it } from "vitest";
import { describeMissing } from "../../src/archive/contents/completeness.ts";
import { listBackups } from "../../src/archive/list.ts";
import { pruneBackups } from "../../src/archive/prune.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { formatCreated, formatList } from "../../src/cli/format/operations/backup.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { urlOf } from "../mirror/support/world.ts";
import { readCsv } from "../support/read-csv.ts";
import { scanBytes } from "./support/backup-rig.ts";
import { bodiesBySha256 } from "./support/bodies.ts";
import { forgeZip } from "./support/forge-zip.ts";
import { takeApart, withSums } from "./support/forgery.ts";
import { catalogueWorld, linkedUrls, startRigs } from "./support/linked-catalogue-rig.ts";

describe("one backup", () => {
  it("the catalogue part holds the resources that the bras link to, their parents, and nothing else", async () => {
    await using rigs = await startRigs();
    const world = catalogueWorld();
    crawl(rigs.catalogue, world);
    const created = await rigs.create("a.zip");
    const { account } = rigs;
    expect(created.manifest.catalogue?.coverage).toEqual([
      { kind: "brand", held: 2, due: 0, failed: 0 },
      { kind: "model", held: 2, due: 0, failed: 0 },
      { kind: "size", held: 2, due: 0, failed: 0 },
    ]);
    await unpackBackup({ file: created.file, folder: account.path("open") });
    const text = (name: string) => readFileSync(account.path(`open/${name}`), "utf8");
    const namesIn = (table: string) => {
      const [head = [], ...rows] = readCsv(text(`catalogue/${table}.csv`));
      const at = head.findIndex(({ text }) => text === "name");
      return rows.map((row) => row[at]?.text);
    };
    expect(namesIn("brand")).toEqual(["Brand a", "Brand b"]);
    expect(namesIn("model")).toEqual(["Model a", "Model b"]);
    expect(JSON.parse(text("catalogue/size.json"))).toMatchObject([
      { href: urlOf("sizes/a/"), model_href: urlOf("models/a/"), brand_href: urlOf("brands/a/") },
      { href: urlOf("sizes/b/"), model_href: urlOf("models/b/") },
    ]);
    const index = text("catalogue/index.ndjson")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(index.map(({ href }) => href)).toEqual(linkedUrls);
    const bodies = bodiesBySha256(text, "catalogue/revisions");
    for (const { href, sha256 } of index) expect(bodies.get(sha256)).toBe(world.get(href));
    expect(bodies.size).toBe(6);
    expect(readdirSync(account.path("open/catalogue/revisions"))).toHaveLength(2);
    execFileSync("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], {
      cwd: account.path("open"),
    });
    expect(text("README.txt")).toContain("  catalogue/brand.csv, catalogue/brand.json: 2\n");
    expect(formatCreated(created)).toContain(
      "\nWith linked catalogue resources: 2 brands, 2 models, 2 sizes.\n",
    );
    const listed = { ...created, isSound: true as const, changes: null };
    expect(formatList([listed], (file) => file)).toContain("  linked: 2 brands, 2 models, 2 sizes\n");
  });

  it("the catalogue part has the same bytes until one of its resources changes, whatever else changes in the catalogue's mirror", async () => {
    await using rigs = await startRigs();
    crawl(rigs.catalogue, catalogueWorld());
    const { rootHash, file } = await rigs.create("1.zip");
    const bytes = await readFile(file);
    crawl(rigs.catalogue, catalogueWorld(["a", "b", "c", "d"]));
    expect(await readFile((await rigs.create("2.zip")).file)).toEqual(bytes);
    crawl(rigs.catalogue, catalogueWorld(["a", "b", "c", "d"], "another"));
    const changed = await rigs.create("3.zip");
    expect(changed.rootHash).not.toBe(rootHash);
    const [before, after] = [await takeApart(bytes), await takeApart(await readFile(changed.file))];
    const isHers = ({ name }: { name: string }) => /^(bookkeeping|revisions|tables)\//.test(name);
    expect(after.filter(isHers)).toEqual(before.filter(isHers));
  });

  it("the catalogue part holds tombstones, and tombstones that were never fetched are not missing", async () => {
    await using rigs = await startRigs();
    crawl(rigs.catalogue, catalogueWorld());
    crawl(rigs.catalogue, catalogueWorld(["a", "c"]), { approve: true });
    const { manifest } = await rigs.create("a.zip");
    expect(describeMissing(manifest)).toBeNull();
    expect(manifest.catalogue?.tables.find(({ name }) => name === "size")).toMatchObject({
      ...{ rows: 2, current: 1 },
    });
    rigs.catalogue.db.exec(
      "delete from _revision where resource_id = (select id from _resource where url like '%/sizes/b/')",
    );
    expect((await rigs.create("b.zip")).manifest.catalogue?.coverage).toContainEqual({
      ...{ kind: "size", held: 1, due: 0, failed: 0 },
    });
  });

  it("damaged, missing and added files of the catalogue part are found", async () => {
    await using rigs = await startRigs();
    crawl(rigs.catalogue, catalogueWorld());
    const { file } = await rigs.create("a.zip");
    const bytes = await readFile(file);
    const flipped = Buffer.from(bytes);
    const at = bytes.indexOf("catalogue/revisions/00001.json") + 60;
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
    expect((await scanBytes(flipped)).problems[0]).toMatchObject({ message: "its content is damaged" });

    const entries = await takeApart(bytes);
    const body = /^catalogue\/revisions\//;
    const [first] = entries.filter(({ name }) => body.test(name));
    const problemsWithout = async (isLeftOut: (name: string) => boolean) =>
      (await scanBytes(forgeZip(withSums(entries.filter(({ name }) => !isLeftOut(name)))))).problems;
    expect(await problemsWithout(() => false)).toEqual([]);
    expect(await problemsWithout((name) => name === first?.name)).toEqual([
      { entry: "catalogue/revisions/00001-index.ndjson", message: "is missing" },
    ]);
    expect(await problemsWithout((name) => name.startsWith("catalogue/"))).toEqual([
      { entry: "catalogue/index.ndjson", message: "is missing" },
    ]);
    const withIndex = (change: (index: string) => string) =>
      entries.map(({ name, content }) => ({
        name,
        content: name === "catalogue/index.ndjson" ? Buffer.from(change(content.toString())) : content,
      }));
    const ofOther = withIndex((index) =>
      index.replace(/"href":"https?:\/\/[^/"]+/, '"href":"http://other.example'),
    );
    expect((await scanBytes(forgeZip(withSums(ofOther)))).problems).toEqual([
      { entry: "catalogue/index.ndjson", message: "has an address of another service" },
    ]);
    const shortened = withIndex((index) => index.replace(/^.*\n/, ""));
    expect((await scanBytes(forgeZip(withSums(shortened)))).problems).toEqual([
      {
        entry: "catalogue/revisions",
        message: expect.stringMatching(/^the body \w{64} belongs to no address$/),
      },
    ]);
  });

  it("the catalogue part is restored neither into the account's mirror nor into a catalogue's", async () => {
    await using rigs = await startRigs();
    crawl(rigs.catalogue, catalogueWorld());
    await rigs.create("a.zip");
    const before = await readFile(rigs.catalogueRig.file);
    const { check } = await rigs.account.restore("a.zip", "new/restored.sqlite");
    expect(check.problems).toEqual([]);
    expect(
      readdirSync(rigs.account.path("new")).filter((name) => !name.startsWith("restored.sqlite")),
    ).toEqual([]);
    expect((await readFile(rigs.catalogueRig.file)).equals(before)).toBe(true);
    const { rootHash } = await rigs.account.create("plain.zip");
    const restored = { mirror: rigs.account.path("new/restored.sqlite") };
    expect(await rigs.account.create("again.zip", restored)).toMatchObject({ rootHash });
  });
});

describe("successive backups", () => {
  /** Each backup is of another second. */
  async function startDays() {
    const rigs = await startRigs();
    mkdirSync(rigs.account.path("backups"));
    let day = 0;
    const backUp = async (catalogue: string | null): Promise<string> => {
      const at = `2026-01-0${++day}T00:00:00.000Z`;
      rigs.account.mirror.db.prepare("update _run set ended_at = ?").run(at);
      return basename((await rigs.account.create("backups", { catalogue })).file);
    };
    return { ...rigs, backUp };
  }

  it("the list of backups shows changes of the catalogue part", async () => {
    await using rigs = await startDays();
    await rigs.backUp(null);
    crawl(rigs.catalogue, catalogueWorld(["a"]));
    await rigs.backUp(rigs.catalogueRig.file);
    crawl(rigs.catalogue, catalogueWorld(["a", "b"], "another"));
    await rigs.backUp(rigs.catalogueRig.file);
    await rigs.backUp(rigs.catalogueRig.file);
    await rigs.backUp(null);
    const changes = [];
    for await (const backup of listBackups({ folder: rigs.account.path("backups") }))
      changes.push(backup.isSound && backup.changes);
    expect(changes).toEqual([
      null,
      { brand: { added: 1 }, model: { added: 1 }, size: { added: 1 } },
      { brand: { added: 1, changed: 1 }, model: { added: 1 }, size: { added: 1 } },
      {},
      { brand: { removed: 2 }, model: { removed: 2 }, size: { removed: 2 } },
    ]);
  });

  it("the last backup with the most linked resources is not pruned until a later one has as many", async () => {
    await using rigs = await startDays();
    crawl(rigs.catalogue, catalogueWorld());
    await using young = await startMirrorRig();
    crawl(await young.write(), catalogueWorld(["a"]));
    const [earlier, rich] = [
      await rigs.backUp(rigs.catalogueRig.file),
      await rigs.backUp(rigs.catalogueRig.file),
    ];
    const [none, poor] = [await rigs.backUp(null), await rigs.backUp(young.file)];
    const prune = async (isPreview: boolean) => {
      const folder = rigs.account.path("backups");
      const { keep, remove } = await pruneBackups({ folder, keep: { last: 1 }, isPreview });
      return [
        keep.map(({ file, reasons }) => [basename(file), reasons]),
        remove.map(({ file }) => basename(file)),
      ];
    };
    const expected = [
      [
        [poor, ["latest", "last"]],
        [rich, ["most catalogue resources"]],
      ],
      [none, earlier],
    ];
    expect(await prune(true)).toEqual(expected);
    expect(await prune(false)).toEqual(expected);
    const again = await rigs.backUp(rigs.catalogueRig.file);
    expect(await prune(false)).toEqual([[[again, expect.any(Array)]], [poor, rich]]);
  });
});
