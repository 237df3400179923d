import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findLinkedEntities } from "../../../src/mirror/account/catalogue-links.ts";
import { overwriteTable } from "../../support/overwrite-table.ts";
import { crawl, startMirrorRig } from "../support/mirror-rig.ts";
import { page, root, worldOf } from "../support/world.ts";

it("an error names the damaged mirror, not the intact one beside it", async () => {
  await using rig = await startMirrorRig();
  const mirror = await rig.write();
  crawl(mirror, worldOf({ "/": root(), "brands/": page([]) }));
  mirror.close();
  const [intact, damaged] = ["intact.sqlite", "damaged.sqlite"].map((name) => join(rig.file, "..", name));
  for (const copy of [intact, damaged]) copyFileSync(rig.file, copy as string);
  overwriteTable(damaged as string, "_resource");
  expect(findLinkedEntities(intact as string, intact as string)).toEqual([]);
  expect(() => findLinkedEntities(damaged as string, intact as string)).toThrow(
    expect.objectContaining({ code: "damaged", file: damaged }),
  );
});
