/** The catalogue part of an account's backup: the brands, models and sizes that its bras link to. */
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

/** The first bra links to brand, model and size; the second only to its size. */
function linkedAccountWorld(): Map<string, string> {
  const world = accountWorld();
  const linksTo = (n: number, links: object) =>
    world.set(urlOf(`me/bras/${n}/`), JSON.stringify(entity({ name: `Bra ${n}` }, { ...links })));
  linksTo(1, { brand: urlOf("brands/a/"), model: urlOf("models/a/"), size: urlOf("sizes/a/") });
  linksTo(2, { brand: null, model: null, size: urlOf("sizes/b/") });
  return world;
}

/** Each brand has one model with one size, all with the same name. */
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

interface Rigs extends AsyncDisposable {
  readonly account: BackupRig;
  readonly catalogueRig: MirrorRig;
  readonly catalogue: MirrorWriter;
  create(name: string): ReturnType<BackupRig["create"]>;
}

async function startRigs(): Promise<Rigs> {
  const account = await startBackupRig();
  walk(account.mirror, linkedAccountWorld());
  markCatalogueLinked(account.mirror.db);
  const catalogueRig = await startMirrorRig();
  const catalogue = await catalogueRig.write();
  return {
    ...{ account, catalogueRig, catalogue },
    create: (name) => account.create(name, { catalogue: catalogueRig.file, replace: true }),
    async [Symbol.asyncDispose]() {
      await account[Symbol.asyncDispose]();
      await catalogueRig[Symbol.asyncDispose]();
    },
  };
}

const linkedUrls = ["brands/a/", "brands/b/", "models/a/", "models/b/", "sizes/a/", "sizes/b/"].map(urlOf);

describe("the catalogue part of an account's backup", () => {
  it("holds the resources that the bras link to, their parents, and nothing else", async () => {
    await using rigs = await startRigs();
    const world = catalogueWorld();
    walk(rigs.catalogue, world);
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
    for (const { href, sha256 } of index)
      expect(text(`catalogue/revisions/${sha256}.json`)).toBe(world.get(href));
    expect(readdirSync(account.path("open/catalogue/revisions"))).toHaveLength(6);
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

  it("has the same bytes until one of its resources changes, whatever else the catalogue's mirror learns", async () => {
    await using rigs = await startRigs();
    walk(rigs.catalogue, catalogueWorld());
    const { rootHash, file } = await rigs.create("1.zip");
    const bytes = await readFile(file);
    walk(rigs.catalogue, catalogueWorld(["a", "b", "c", "d"]));
    expect(await readFile((await rigs.create("2.zip")).file)).toEqual(bytes);
    walk(rigs.catalogue, catalogueWorld(["a", "b", "c", "d"], "another"));
    const changed = await rigs.create("3.zip");
    expect(changed.rootHash).not.toBe(rootHash);
    const [before, after] = [await takeApart(bytes), await takeApart(await readFile(changed.file))];
    const isHers = ({ name }: { name: string }) => /^(bookkeeping|revisions|tables)\//.test(name);
    expect(after.filter(isHers)).toEqual(before.filter(isHers));
  });

  it("holds tombstones, and counts resources that were never held as no gap", async () => {
    await using rigs = await startRigs();
    walk(rigs.catalogue, catalogueWorld());
    walk(rigs.catalogue, catalogueWorld(["a", "c"]), { approve: true });
    const { manifest } = await rigs.create("a.zip");
    expect(describeMissing(manifest)).toBeNull();
    expect(manifest.catalogue?.tables.find(({ name }) => name === "size")).toMatchObject({
      ...{ rows: 2, living: 1 },
    });
    rigs.catalogue.db.exec(
      "delete from _revision where resource_id = (select id from _resource where url like '%/sizes/b/')",
    );
    expect((await rigs.create("b.zip")).manifest.catalogue?.coverage).toContainEqual({
      ...{ kind: "size", held: 1, due: 0, failed: 0 },
    });
  });

  it("is verified like all other entries: damage, missing and added files are found", async () => {
    await using rigs = await startRigs();
    walk(rigs.catalogue, catalogueWorld());
    const { file } = await rigs.create("a.zip");
    const bytes = await readFile(file);
    const flipped = Buffer.from(bytes);
    const at = bytes.indexOf('"Model b"') + 1;
    flipped.writeUInt8(flipped.readUInt8(at) ^ 1, at);
    expect((await scanBytes(flipped)).problems[0]).toMatchObject({ message: "its content is damaged" });

    const entries = await takeApart(bytes);
    const body = /^catalogue\/revisions\//;
    const [first] = entries.filter(({ name }) => body.test(name));
    const problemsWithout = async (isLeftOut: (name: string) => boolean) =>
      (await scanBytes(forgeZip(withSums(entries.filter(({ name }) => !isLeftOut(name)))))).problems;
    expect(await problemsWithout(() => false)).toEqual([]);
    expect(await problemsWithout((name) => name === first?.name)).toEqual([
      { entry: first?.name, message: "is missing" },
    ]);
    expect(await problemsWithout((name) => name.startsWith("catalogue/"))).toEqual([
      { entry: "catalogue/index.ndjson", message: "is missing" },
    ]);
    const shortened = entries.map(({ name, content }) => ({
      name,
      content:
        name === "catalogue/index.ndjson" ? Buffer.from(content.toString().replace(/^.*\n/, "")) : content,
    }));
    expect((await scanBytes(forgeZip(withSums(shortened)))).problems).toEqual([
      { entry: expect.stringMatching(body), message: "belongs to no address" },
    ]);
  });

  it("is neither restored into the account's mirror nor into a catalogue's", async () => {
    await using rigs = await startRigs();
    walk(rigs.catalogue, catalogueWorld());
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

describe("the catalogue part of successive backups", () => {
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

  it("has its changes listed", async () => {
    await using rigs = await startDays();
    await rigs.backUp(null);
    walk(rigs.catalogue, catalogueWorld(["a"]));
    await rigs.backUp(rigs.catalogueRig.file);
    walk(rigs.catalogue, catalogueWorld(["a", "b"], "another"));
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

  it("protects the last backup with the most resources from pruning, until a later one has as many", async () => {
    await using rigs = await startDays();
    walk(rigs.catalogue, catalogueWorld());
    await using young = await startMirrorRig();
    walk(await young.write(), catalogueWorld(["a"]));
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

const withdrawRequest = ({ mirror }: BackupRig) =>
  mirror.db.exec("delete from _meta where key = 'linked_wanted'");

describe("a backup without a requested catalogue part", () => {
  it("is complete, holds no catalogue resources and says so, whatever another account fetched", async () => {
    await using rigs = await startRigs();
    walk(rigs.catalogue, catalogueWorld());
    expect((await rigs.create("requested.zip")).manifest.catalogue?.tables.length).toBeGreaterThan(0);
    withdrawRequest(rigs.account);
    for (const catalogue of [null, rigs.account.path("nowhere/catalogue.sqlite"), rigs.catalogueRig.file]) {
      const created = await rigs.account.create("a.zip", { catalogue, replace: true });
      const { manifest } = created;
      expect(created.catalogueError).toBeNull();
      expect([describeMissing(manifest), isComplete(manifest)]).toEqual([null, true]);
      const words = describeUnlinked(manifest);
      expect(words).toMatch(/^The brands, models and sizes .* not in it; --with-catalogue fetches them\.$/);
      expect(formatCreated(created)).toContain(words);
      expect(existsSync(rigs.account.path("nowhere"))).toBe(false);
    }
    await rigs.account.create("b.zip");
    await unpackBackup({ file: rigs.account.path("b.zip"), folder: rigs.account.path("open") });
    expect(readFileSync(rigs.account.path("open/README.txt"), "utf8")).toContain(
      "--with-catalogue fetches them",
    );
    expect(existsSync(rigs.account.path("open/catalogue"))).toBe(false);
  });

  it("does not change with the resources that another account fetches", async () => {
    await using rigs = await startRigs();
    withdrawRequest(rigs.account);
    const { rootHash } = await rigs.create("before.zip");
    walk(rigs.catalogue, catalogueWorld());
    expect(await rigs.create("after.zip")).toMatchObject({ rootHash });
  });
});

describe("a backup with a requested but unmirrored catalogue part", () => {
  it("is not complete", async () => {
    await using rigs = await startRigs();
    const { manifest } = await rigs.account.create("a.zip");
    expect(isComplete(manifest)).toBe(false);
    expect(describeMissing(manifest)).toMatch(
      /^Not complete: 4 of 4 brands, models and sizes of the bras missing/,
    );
    expect(describeUnlinked(manifest)).toBeNull();
  });

  it("says how many resources are missing, and how to fetch them", async () => {
    await using rigs = await startRigs();
    await fc.assert(
      fc.asyncProperty(fc.subarray(linkedUrls, { minLength: 1 }), async (fetched) => {
        await using catalogueRig = await startMirrorRig();
        const catalogue = await catalogueRig.write();
        const isOther = (url: string) => !linkedUrls.includes(url);
        walk(catalogue, catalogueWorld(), {
          choose: (due) => due.filter(({ url }) => isOther(url) || fetched.includes(url)),
          maxBatches: 12,
        });
        // A crawl cannot fetch resources without a link to them.
        const held = catalogue.db
          .prepare<[], string>("select url from _resource where state = 'held'")
          .pluck()
          .all()
          .filter((url) => !isOther(url));
        const { file, manifest } = await rigs.account.create("a.zip", {
          catalogue: catalogueRig.file,
          replace: true,
        });
        const all = (manifest.catalogue?.coverage ?? []).map(({ held, due, failed }) => held + due + failed);
        const total = all.reduce((sum, count) => sum + count, 0);
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
      await using rigs = await startRigs();
      walk(rigs.catalogue, catalogueWorld());
      const { db } = rigs.catalogue;
      if (trouble === "another service's")
        db.exec("update _meta set value = 'https://other.example/' where key = 'base_url'");
      if (trouble === "damaged") db.exec("update _content set body = zeroblob(length(body))");
      rigs.catalogue.close();
      if (trouble === "no mirror") await writeFile(rigs.catalogueRig.file, "something else".repeat(100));
      const created = await rigs.create("a.zip");
      expect(created.catalogueError).toMatchObject({ name: "MirrorError", file: rigs.catalogueRig.file });
      expect(created.manifest.catalogue?.tables).toEqual([]);
      const without = await rigs.account.create("b.zip");
      expect(without.rootHash).toBe(created.rootHash);
    },
  );
});

/** The second bra leads to its model and brand only through held resources. */
function isReached(url: string, held: readonly string[]): boolean {
  const size = held.includes(urlOf("sizes/b/"));
  if (url === urlOf("models/b/")) return size;
  if (url === urlOf("brands/b/")) return size && held.includes(urlOf("models/b/"));
  return true;
}
