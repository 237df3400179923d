/** Incomplete backups: the manifest, README.txt and the summary list what is missing. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { countMissing, describeMissing, isComplete } from "../../src/archive/contents/completeness.ts";
import { unpackBackup } from "../../src/archive/restore.ts";
import { formatCreated } from "../../src/cli/format/operations/backup.ts";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { accountWorld } from "./support/account-world.ts";
import { type BackupRig, startBackupRig } from "./support/backup-rig.ts";

const fourBras = { "1": "a", "2": "b", "3": "c", "4": "d" };

/** Four bras: one fetched, one failed, two due. */
async function startIncomplete(): Promise<BackupRig> {
  const rig = await startBackupRig();
  crawl(rig.mirror, accountWorld({ bras: fourBras }), {
    choose: (due) => due.filter(({ kind, url }) => kind !== "bra" || url.endsWith("/1/")).slice(0, 1),
    maxBatches: 5,
  });
  rig.mirror.db.exec("update _resource set state = 'failed', attempts = 1 where url like '%/bras/4/'");
  return rig;
}

it("the manifest, README.txt and the summary of an incomplete backup list what is missing", async () => {
  await using rig = await startIncomplete();
  const created = await rig.create("a.zip");
  const { manifest } = created;
  expect(manifest.coverage).toContainEqual({ kind: "bra", held: 1, due: 2, failed: 1 });
  expect(manifest.notGranted).toEqual(["email"]);
  const text =
    "Not complete: 2 bras are listed and not fetched yet; 1 bra is listed and could not be fetched.\n";
  await unpackBackup({ file: rig.path("a.zip"), folder: rig.path("open") });
  expect(readFileSync(rig.path("open/README.txt"), "utf8")).toContain(text);
  expect(formatCreated(created)).toContain(text);
  expect(formatCreated(created)).toContain("1 of 4 bras, 1 measurement, not complete");
});

it("a mirror restored from an incomplete backup makes the same backup again", async () => {
  await using rig = await startIncomplete();
  const { rootHash } = await rig.create("a.zip");
  await rig.restore("a.zip", "restored.sqlite");
  expect(await rig.create("b.zip", { mirror: rig.path("restored.sqlite") })).toMatchObject({ rootHash });
});

it("a backup is complete once everything is fetched, also if the token lacks scopes", async () => {
  await using rig = await startIncomplete();
  crawl(rig.mirror, accountWorld({ bras: fourBras }));
  const { manifest } = await rig.create("a.zip");
  expect(isComplete(manifest)).toBe(true);
  expect(describeMissing(manifest)).toBeNull();
  expect(countMissing(manifest, "bra")).toBe(0);
});

it("a list with missing pages makes a backup incomplete", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld(), { choose: (due) => due.slice(0, 1), maxBatches: 2 });
  const { manifest } = await rig.create("a.zip");
  expect(describeMissing(manifest)).toBe(
    "Not complete: the list of bras was not read to its end; the list of measurements was not read to its end.",
  );
});
