import { closeSync, copyFileSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { findLinkedEntities } from "../../src/mirror/linked-entities.ts";
import { startMirrorRig, walk } from "./mirror-rig.ts";
import { page, root, worldOf } from "./world.ts";

it("what is damaged is named, and not the mirror beside it", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  walk(mirror, worldOf({ "/": root(), "brands/": page([]) }));
  mirror.close();
  const [sound, damaged] = ["sound.sqlite", "damaged.sqlite"].map((name) => join(rig.file, "..", name));
  for (const copy of [sound, damaged]) copyFileSync(rig.file, copy as string);
  overwriteTable(damaged as string, "_resource");
  expect(findLinkedEntities(sound as string, sound as string)).toEqual([]);
  expect(() => findLinkedEntities(damaged as string, sound as string)).toThrow(
    expect.objectContaining({ code: "damaged", file: damaged }),
  );
});

function overwriteTable(file: string, table: string): void {
  const db = new Database(file);
  const size = Number(db.pragma("page_size", { simple: true }));
  const root = db
    .prepare<[string], number>("select rootpage from sqlite_schema where name = ?")
    .pluck()
    .get(table);
  db.close();
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(size, 0xff), 0, size, ((root ?? 1) - 1) * size);
  closeSync(handle);
}
