/** Backups that another version of Armoire made are refused in one line; they are not reported as damaged. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { crawl } from "../mirror/support/mirror-rig.ts";
import { accountWorld } from "./support/account-world.ts";
import { startBackupRig } from "./support/backup-rig.ts";
import { forgeZip } from "./support/forge-zip.ts";
import { takeApart, withSums } from "./support/forgery.ts";

it.each<[version: string, edit: (manifest: string) => string, message: string]>([
  ["an earlier format", withFormat2, "has format 2; this version of Armoire reads formats 3 to 4"],
  [
    "a later format",
    (manifest) => manifest.replace('"formatVersion": 4', '"formatVersion": 5'),
    "has format 5; this version of Armoire reads formats 3 to 4",
  ],
  [
    "a mirror with unknown tables",
    (manifest) => manifest.replace(/"schema": "[^"]+"/, '"schema": "0008-times"'),
    'is of a mirror with the tables of "0008-times"; this version of Armoire knows 0005-worth',
  ],
])("a backup of %s is refused, and nothing is restored", async (_version, edit, message) => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  const entries = (await takeApart(await rig.bytes())).map(({ name, content }) => ({
    name,
    content: name === "manifest.json" ? Buffer.from(edit(content.toString())) : content,
  }));
  const file = rig.path("other-version.zip");
  await writeFile(file, forgeZip(withSums(entries)));
  await expect(rig.restore("other-version.zip", "restored.sqlite")).rejects.toMatchObject({
    code: "other-version",
    kind: "rejected",
    message: `The backup ${message}: ${file}`,
  });
  expect(existsSync(rig.path("restored.sqlite"))).toBe(false);
});

it("a backup of a mirror that an earlier version has written is restored", async () => {
  await using rig = await startBackupRig();
  crawl(rig.mirror, accountWorld());
  let changed = 0;
  const withoutNewColumn = (line: string) => {
    if (line === "") return line;
    const { retry_at: added, ...row } = JSON.parse(line);
    if (added === null) changed++;
    return JSON.stringify(row);
  };
  const entries = (await takeApart(await rig.bytes())).map(({ name, content }) => {
    const text = content.toString();
    if (name === "manifest.json") {
      const older = text.replace(/"schema": "[^"]+"/, '"schema": "0001-initial"');
      return { name, content: Buffer.from(older) };
    }
    if (name !== "bookkeeping/resource-00001.ndjson") return { name, content };
    return { name, content: Buffer.from(text.split("\n").map(withoutNewColumn).join("\n")) };
  });
  expect(changed).toBeGreaterThan(0);
  await writeFile(rig.path("older.zip"), forgeZip(withSums(entries)));
  await rig.restore("older.zip", "restored.sqlite");
  expect(existsSync(rig.path("restored.sqlite"))).toBe(true);
});

/** As format 2 wrote it: without the mirror's id. */
function withFormat2(text: string): string {
  const { mirrorId: _lineage, ...manifest } = JSON.parse(text);
  return JSON.stringify({ ...manifest, formatVersion: 2 });
}
