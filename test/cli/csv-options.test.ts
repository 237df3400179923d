/** `--exact` and `--excel` of all commands that print CSV. */
import { beforeAll, expect, it } from "vitest";
import { crawl, type MirrorRig, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { entity, page, root, worldOf } from "../mirror/support/world.ts";
import { callArmoire } from "../support/run-armoire.ts";

let rig: MirrorRig;
beforeAll(async () => {
  rig = await startMirrorRig();
  const mirror = await rig.write();
  const withBrand = (name: string) =>
    worldOf({
      ...{ "/": root(), "brands/": page(["brands/1/"], null) },
      "brands/1/": entity({ name, slug: "one" }),
    });
  crawl(mirror, withBrand("=0"));
  crawl(mirror, withBrand("=1+1"));
  mirror.close();
  return () => rig[Symbol.asyncDispose]();
});

it.each([
  ["show", "brand", "one"],
  ["history", "brand", "one"],
  ["diff"],
  ["search", "1"],
  ["query", "select name from brand"],
])("%s prints a formula as text, unless --exact is given", async (...command) => {
  const print = async (...options: readonly string[]) => {
    const { stdout, exitCode } = await callArmoire([
      ...command,
      "--format",
      "csv",
      ...options,
      "--mirror",
      rig.file,
    ]);
    expect(exitCode).toBe(0);
    return stdout;
  };
  const guarded = await print();
  expect(guarded).toContain("'=1+1");
  expect(await print("--exact")).toBe(guarded.replaceAll("'=", "="));
  expect(await print("--excel")).toBe(`\ufeff${guarded.replaceAll("\n", "\r\n")}`);
});
