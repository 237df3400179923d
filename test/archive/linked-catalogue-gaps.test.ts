/** Backups without the catalogue part, or with some of it, and their reports of missing resources. */
import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeMissing, describeUnlinked, isComplete } from "../../src/archive/contents/completeness.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { formatCreated } from "../../src/cli/format/operations/backup.ts";
import { crawl, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { urlOf } from "../mirror/support/world.ts";
import { tries } from "../support/thorough.ts";
import { type BackupRig, scanBytes } from "./support/backup-rig.ts";
import { catalogueWorld, linkedUrls, startRigs } from "./support/linked-catalogue-rig.ts";

const withdrawRequest = ({ mirror }: BackupRig) =>
  mirror.db.exec("delete from _meta where key = 'with_catalogue'");

describe("not requested", () => {
  it("a backup without linked resources is complete and states that it has none, whatever another account fetched", async () => {
    await using rigs = await startRigs();
    crawl(rigs.catalogue, catalogueWorld());
    expect((await rigs.create("requested.zip")).manifest.catalogue?.tables.length).toBeGreaterThan(0);
    withdrawRequest(rigs.account);
    for (const catalogue of [null, rigs.account.path("nowhere/catalogue.sqlite"), rigs.catalogueRig.file]) {
      const created = await rigs.account.create("a.zip", { catalogue, replace: true });
      const { manifest } = created;
      expect(created.catalogueError).toBeNull();
      expect([describeMissing(manifest), isComplete(manifest)]).toEqual([null, true]);
      const text = describeUnlinked(manifest);
      expect(text).toMatch(/^The brands, models and sizes .* not in it; --with-catalogue fetches them\.$/);
      expect(formatCreated(created)).toContain(text);
      expect(existsSync(rigs.account.path("nowhere"))).toBe(false);
    }
    await rigs.account.create("b.zip");
    await unpackBackup({ file: rigs.account.path("b.zip"), folder: rigs.account.path("open") });
    expect(readFileSync(rigs.account.path("open/README.txt"), "utf8")).toContain(
      "--with-catalogue fetches them",
    );
    expect(existsSync(rigs.account.path("open/catalogue"))).toBe(false);
  });

  it("a backup without linked resources does not change with the resources that another account fetches", async () => {
    await using rigs = await startRigs();
    withdrawRequest(rigs.account);
    const { rootHash } = await rigs.create("before.zip");
    crawl(rigs.catalogue, catalogueWorld());
    expect(await rigs.create("after.zip")).toMatchObject({ rootHash });
  });
});

describe("requested, not mirrored", () => {
  it("a backup that lacks requested linked resources is not complete", async () => {
    await using rigs = await startRigs();
    const { manifest } = await rigs.account.create("a.zip");
    expect(isComplete(manifest)).toBe(false);
    expect(describeMissing(manifest)).toMatch(
      /^Not complete: 4 of 4 brands, models and sizes of the bras missing/,
    );
    expect(describeUnlinked(manifest)).toBeNull();
  });

  it("a backup that lacks requested linked resources states how many are missing, and how to fetch them", async () => {
    await using rigs = await startRigs();
    await fc.assert(
      fc.asyncProperty(fc.subarray(linkedUrls, { minLength: 1 }), async (fetched) => {
        await using catalogueRig = await startMirrorRig();
        const catalogue = await catalogueRig.write();
        const isOther = (url: string) => !linkedUrls.includes(url);
        crawl(catalogue, catalogueWorld(), {
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
      { numRuns: tries(4, 100) },
    );
  });

  it.each(["no mirror", "another service's", "damaged"])(
    "a backup holds the account's own data and reports the reason if the catalogue is %s",
    async (fault) => {
      await using rigs = await startRigs();
      crawl(rigs.catalogue, catalogueWorld());
      const { db } = rigs.catalogue;
      if (fault === "another service's")
        for (const [table, column] of [
          ["_meta", "value"],
          ["_resource", "url"],
        ])
          db.exec(
            `update ${table} set ${column} = replace(${column}, '${urlOf("")}', 'https://other.example/')`,
          );
      if (fault === "damaged") db.exec("update _content set body = zeroblob(length(body))");
      rigs.catalogue.close();
      if (fault === "no mirror") await writeFile(rigs.catalogueRig.file, "something else".repeat(100));
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
