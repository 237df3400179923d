/** What her bras are, in her backup: so that it makes sense to who has nothing else. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeMissing, describeUnlinked, isComplete } from "../../src/archive/contents/completeness.ts";
import { listBackups } from "../../src/archive/list.ts";
import { pruneBackups } from "../../src/archive/prune.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { formatCreated, formatList } from "../../src/cli/format/backup.ts";
import { markCatalogueLinked } from "../../src/mirror/account/catalogue-linking.ts";
import type { MirrorWriter } from "../../src/mirror/writer.ts";
import { type MirrorRig, startMirrorRig, walk } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, urlOf, worldOf } from "../mirror/support/world.ts";
import { readCsv } from "../support/read-csv.ts";
import { tries } from "../support/thorough.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, scanBytes, startBackupRig } from "./support/backup-rig.ts";
import { forgeZip } from "./support/forge-zip.ts";
import { takeApart, withSums } from "./support/forgery.ts";

/** The first bra names all three, the second its size alone. */
function hersWorld(): Map<string, string> {
  const world = accountWorld();
  const linksTo = (n: number, links: object) =>
    world.set(urlOf(`me/bras/${n}/`), JSON.stringify(entity({ name: `Bra ${n}` }, { ...links })));
  linksTo(1, { brand: urlOf("brands/a/"), model: urlOf("models/a/"), size: urlOf("sizes/a/") });
  linksTo(2, { brand: null, model: null, size: urlOf("sizes/b/") });
  return world;
}

/** Brands of one model, which has one size, each called alike. */
function catalogueWorld(names: readonly string[] = ["a", "b", "c"], slug = "slug"): Map<string, string> {
  return worldOf({
    "": root(),
    "brands/": page(names.map((name) => `brands/${name}/`)),
    ...Object.fromEntries(
      names.flatMap((name) => [
        [
          `brands/${name}/`,
          entity({ name: `Brand ${name}`, slug }, { models: urlOf(`brands/${name}/models/`) }),
        ],
        [`brands/${name}/models/`, page([`models/${name}/`])],
        [
          `models/${name}/`,
          entity(
            { name: `Model ${name}` },
            { brand: urlOf(`brands/${name}/`), sizes: urlOf(`models/${name}/sizes/`) },
          ),
        ],
        [`models/${name}/sizes/`, page([`sizes/${name}/`])],
        [`sizes/${name}/`, entity({ name: `Size ${name}` }, { model: urlOf(`models/${name}/`) })],
      ]),
    ),
  });
}

interface Both extends AsyncDisposable {
  readonly hers: BackupRig;
  readonly beside: MirrorRig;
  readonly catalogue: MirrorWriter;
  create(name: string): ReturnType<BackupRig["create"]>;
}

async function startBoth(): Promise<Both> {
  const hers = await startBackupRig();
  walk(hers.mirror, hersWorld());
  markCatalogueLinked(hers.mirror.db);
  const beside = await startMirrorRig();
  const catalogue = await beside.write();
  return {
    ...{ hers, beside, catalogue },
    create: (name) => hers.create(name, { catalogue: beside.file, replace: true }),
    async [Symbol.asyncDispose]() {
      await hers[Symbol.asyncDispose]();
      await beside[Symbol.asyncDispose]();
    },
  };
}

const linkedUrls = ["brands/a/", "brands/b/", "models/a/", "models/b/", "sizes/a/", "sizes/b/"].map(urlOf);

describe("the catalogue part of an account's backup", () => {
  it("holds the resources that the bras link to, their parents, and nothing else", async () => {
    await using both = await startBoth();
    const world = catalogueWorld();
    walk(both.catalogue, world);
    const created = await both.create("a.zip");
    const { hers } = both;
    expect(created.manifest.catalogue?.coverage).toEqual([
      { kind: "brand", held: 2, due: 0, failed: 0 },
      { kind: "model", held: 2, due: 0, failed: 0 },
      { kind: "size", held: 2, due: 0, failed: 0 },
    ]);
    await unpackBackup({ file: created.file, folder: hers.path("open") });
    const text = (name: string) => readFileSync(hers.path(`open/${name}`), "utf8");
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
    for (const { href, sha256 } of index)
      expect(text(`catalogue/revisions/${sha256}.json`)).toBe(world.get(href));
    expect(readdirSync(hers.path("open/catalogue/revisions"))).toHaveLength(6);
    execFileSync("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: hers.path("open") });
    expect(text("README.txt")).toContain("  catalogue/brand.csv, catalogue/brand.json: 2\n");
    expect(formatCreated(created)).toContain(
      "\nWith linked catalogue resources: 2 brands, 2 models, 2 sizes.\n",
    );
    const listed = { ...created, isSound: true as const, changes: null };
    expect(formatList([listed], (file) => file)).toContain("  linked: 2 brands, 2 models, 2 sizes\n");
  });

  it("has the same bytes until one of its resources changes, whatever else the catalogue's mirror learns", async () => {
    await using both = await startBoth();
    walk(both.catalogue, catalogueWorld());
    const { rootHash, file } = await both.create("1.zip");
    const bytes = await readFile(file);
    walk(both.catalogue, catalogueWorld(["a", "b", "c", "d"]));
    expect(await readFile((await both.create("2.zip")).file)).toEqual(bytes);
    walk(both.catalogue, catalogueWorld(["a", "b", "c", "d"], "another"));
    const changed = await both.create("3.zip");
    expect(changed.rootHash).not.toBe(rootHash);
    const [before, after] = [await takeApart(bytes), await takeApart(await readFile(changed.file))];
    const isHers = ({ name }: { name: string }) => /^(bookkeeping|revisions|tables)\//.test(name);
    expect(after.filter(isHers)).toEqual(before.filter(isHers));
  });

  it("holds tombstones, and counts resources that were never held as no gap", async () => {
    await using both = await startBoth();
    walk(both.catalogue, catalogueWorld());
    walk(both.catalogue, catalogueWorld(["a", "c"]), { approve: true });
    const { manifest } = await both.create("a.zip");
    expect(describeMissing(manifest)).toBeNull();
    expect(manifest.catalogue?.tables.find(({ name }) => name === "size")).toMatchObject({
      ...{ rows: 2, living: 1 },
    });
    both.catalogue.db.exec(
      "delete from _revision where resource_id = (select id from _resource where url like '%/sizes/b/')",
    );
    expect((await both.create("b.zip")).manifest.catalogue?.coverage).toContainEqual({
      ...{ kind: "size", held: 1, due: 0, failed: 0 },
    });
  });

  it("is verified like all other entries: damage, missing and added files are found", async () => {
    await using both = await startBoth();
    walk(both.catalogue, catalogueWorld());
    const { file } = await both.create("a.zip");
    const bytes = await readFile(file);
    const flipped = Buffer.from(bytes);
    const at = bytes.indexOf('"Model b"') + 1;
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
    expect((await scanBytes(flipped)).problems[0]).toMatchObject({ what: "its content is damaged" });

    const entries = await takeApart(bytes);
    const body = /^catalogue\/revisions\//;
    const [first] = entries.filter(({ name }) => body.test(name));
    const problemsWithout = async (isLeftOut: (name: string) => boolean) =>
      (await scanBytes(forgeZip(withSums(entries.filter(({ name }) => !isLeftOut(name)))))).problems;
    expect(await problemsWithout(() => false)).toEqual([]);
    expect(await problemsWithout((name) => name === first?.name)).toEqual([
      { entry: first?.name, what: "is missing" },
    ]);
    expect(await problemsWithout((name) => name.startsWith("catalogue/"))).toEqual([
      { entry: "catalogue/index.ndjson", what: "is missing" },
    ]);
    const shortened = entries.map(({ name, content }) => ({
      name,
      content:
        name === "catalogue/index.ndjson" ? Buffer.from(content.toString().replace(/^.*\n/, "")) : content,
    }));
    expect((await scanBytes(forgeZip(withSums(shortened)))).problems).toEqual([
      { entry: expect.stringMatching(body), what: "belongs to no address" },
    ]);
  });

  it("is neither restored into the account's mirror nor into a catalogue's", async () => {
    await using both = await startBoth();
    walk(both.catalogue, catalogueWorld());
    await both.create("a.zip");
    const before = await readFile(both.beside.file);
    const { check } = await both.hers.restore("a.zip", "new/restored.sqlite");
    expect(check.problems).toEqual([]);
    expect(readdirSync(both.hers.path("new")).filter((name) => !name.startsWith("restored.sqlite"))).toEqual(
      [],
    );
    expect((await readFile(both.beside.file)).equals(before)).toBe(true);
    const { rootHash } = await both.hers.create("plain.zip");
    const restored = { mirror: both.hers.path("new/restored.sqlite") };
    expect(await both.hers.create("again.zip", restored)).toMatchObject({ rootHash });
  });
});

describe("the catalogue part of successive backups", () => {
  /** Each is of another second. */
  async function startDays() {
    const both = await startBoth();
    mkdirSync(both.hers.path("backups"));
    let day = 0;
    const backUp = async (catalogue: string | null): Promise<string> => {
      const at = `2026-01-0${++day}T00:00:00.000Z`;
      both.hers.mirror.db.prepare("update _run set ended_at = ?").run(at);
      return basename((await both.hers.create("backups", { catalogue })).file);
    };
    return { ...both, backUp };
  }

  it("has its changes listed", async () => {
    await using both = await startDays();
    await both.backUp(null);
    walk(both.catalogue, catalogueWorld(["a"]));
    await both.backUp(both.beside.file);
    walk(both.catalogue, catalogueWorld(["a", "b"], "another"));
    await both.backUp(both.beside.file);
    await both.backUp(both.beside.file);
    await both.backUp(null);
    const changes = [];
    for await (const backup of listBackups({ folder: both.hers.path("backups") }))
      changes.push(backup.isSound && backup.changes);
    expect(changes).toEqual([
      null,
      { brand: { added: 1 }, model: { added: 1 }, size: { added: 1 } },
      { brand: { added: 1, changed: 1 }, model: { added: 1 }, size: { added: 1 } },
      {},
      { brand: { removed: 2 }, model: { removed: 2 }, size: { removed: 2 } },
    ]);
  });

  it("protects the last backup with the most resources from pruning, until a later one has as many", async () => {
    await using both = await startDays();
    walk(both.catalogue, catalogueWorld());
    await using young = await startMirrorRig();
    walk(await young.write(), catalogueWorld(["a"]));
    const [earlier, rich] = [await both.backUp(both.beside.file), await both.backUp(both.beside.file)];
    const [none, poor] = [await both.backUp(null), await both.backUp(young.file)];
    const prune = async (isPreview: boolean) => {
      const folder = both.hers.path("backups");
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
    const again = await both.backUp(both.beside.file);
    expect(await prune(false)).toEqual([[[again, expect.any(Array)]], [poor, rich]]);
  });
});

const forgetWish = ({ mirror }: BackupRig) => mirror.db.exec("delete from _meta where key = 'linked_wanted'");

describe("a backup without a requested catalogue part", () => {
  it("is complete, holds no catalogue resources and says so, whatever another account fetched", async () => {
    await using both = await startBoth();
    walk(both.catalogue, catalogueWorld());
    expect((await both.create("asked.zip")).manifest.catalogue?.tables.length).toBeGreaterThan(0);
    forgetWish(both.hers);
    for (const catalogue of [null, both.hers.path("nowhere/catalogue.sqlite"), both.beside.file]) {
      const created = await both.hers.create("a.zip", { catalogue, replace: true });
      const { manifest } = created;
      expect(created.catalogueError).toBeNull();
      expect([describeMissing(manifest), isComplete(manifest)]).toEqual([null, true]);
      const words = describeUnlinked(manifest);
      expect(words).toMatch(/^The brands, models and sizes .* not in it; --with-catalogue fetches them\.$/);
      expect(formatCreated(created)).toContain(words);
      expect(existsSync(both.hers.path("nowhere"))).toBe(false);
    }
    await both.hers.create("b.zip");
    await unpackBackup({ file: both.hers.path("b.zip"), folder: both.hers.path("open") });
    expect(readFileSync(both.hers.path("open/README.txt"), "utf8")).toContain(
      "--with-catalogue fetches them",
    );
    expect(existsSync(both.hers.path("open/catalogue"))).toBe(false);
  });

  it("does not change with the resources that another account fetches", async () => {
    await using both = await startBoth();
    forgetWish(both.hers);
    const { rootHash } = await both.create("before.zip");
    walk(both.catalogue, catalogueWorld());
    expect(await both.create("after.zip")).toMatchObject({ rootHash });
  });
});

describe("a backup with a requested but unmirrored catalogue part", () => {
  it("is not complete", async () => {
    await using both = await startBoth();
    const { manifest } = await both.hers.create("a.zip");
    expect(isComplete(manifest)).toBe(false);
    expect(describeMissing(manifest)).toMatch(
      /^Not complete: 4 of 4 brands, models and sizes of the bras missing/,
    );
    expect(describeUnlinked(manifest)).toBeNull();
  });

  it("says how many resources are missing, and how to fetch them", async () => {
    await using both = await startBoth();
    await fc.assert(
      fc.asyncProperty(fc.subarray(linkedUrls, { minLength: 1 }), async (fetched) => {
        await using beside = await startMirrorRig();
        const catalogue = await beside.write();
        const isOther = (url: string) => !linkedUrls.includes(url);
        walk(catalogue, catalogueWorld(), {
          choose: (due) => due.filter(({ url }) => isOther(url) || fetched.includes(url)),
          maxBatches: 12,
        });
        // What nothing has led to yet cannot be fetched by a walk.
        const held = catalogue.db
          .prepare<[], string>("select url from _resource where state = 'held'")
          .pluck()
          .all()
          .filter((url) => !isOther(url));
        const { file, manifest } = await both.hers.create("a.zip", { catalogue: beside.file, replace: true });
        const all = (manifest.catalogue?.coverage ?? []).map(({ held, due, failed }) => held + due + failed);
        const total = all.reduce((sum, one) => sum + one, 0);
        const missing = total - held.filter((url) => isReached(url, held)).length;
        expect(describeMissing(manifest)).toBe(
          missing === 0
            ? null
            : `Not complete: ${missing} of ${total} brands, models and sizes of the bras missing (--with-catalogue fetches them).`,
        );
        expect(isComplete(manifest)).toBe(missing === 0);
        expect((await scanBytes(await readFile(file))).problems).toEqual([]);
      }),
      { numRuns: tries(8, 100) },
    );
  });

  it.each(["no mirror", "another service's", "damaged"])(
    "still holds the account's own data and reports the reason if the catalogue is %s",
    async (trouble) => {
      await using both = await startBoth();
      walk(both.catalogue, catalogueWorld());
      const { db } = both.catalogue;
      if (trouble === "another service's")
        db.exec("update _meta set value = 'https://other.example/' where key = 'base_url'");
      if (trouble === "damaged") db.exec("update _content set body = zeroblob(length(body))");
      both.catalogue.close();
      if (trouble === "no mirror") await writeFile(both.beside.file, "something else".repeat(100));
      const created = await both.create("a.zip");
      expect(created.catalogueError).toMatchObject({ name: "MirrorError", file: both.beside.file });
      expect(created.manifest.catalogue?.tables).toEqual([]);
      const without = await both.hers.create("b.zip");
      expect(without.rootHash).toBe(created.rootHash);
    },
  );
});

/** The second bra leads to its model and brand only through what is held. */
function isReached(url: string, held: readonly string[]): boolean {
  const size = held.includes(urlOf("sizes/b/"));
  if (url === urlOf("models/b/")) return size;
  if (url === urlOf("brands/b/")) return size && held.includes(urlOf("models/b/"));
  return true;
}
