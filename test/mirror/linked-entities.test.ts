import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findLinkedEntities } from "../../src/mirror/account/catalogue-links.ts";
import { overwriteTable } from "../support/overwrite-table.ts";
import { startMirrorRig, walk } from "./support/mirror-rig.ts";
import { page, root, worldOf } from "./support/world.ts";

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
