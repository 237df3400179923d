import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { openMirrorReader, readStatus } from "../../src/index.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

it("all claims of the demo hold, and its files are in ./demo/", async () => {
  await using folder = await temporaryFolder();
  const demo = join(import.meta.dirname, "demo.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [demo], { cwd: folder.path });
  expect(stdout).not.toContain("✗");
  expect(stdout).toContain("npx armoire serve --mirror demo-mirror.sqlite --open");
  const mirror = openMirrorReader(join(folder.path, "demo-mirror.sqlite"));
  expect(readStatus(mirror).complete).toBe(true);
  mirror.close();
  expect(await readdir(join(folder.path, "demo"))).toEqual(
    expect.arrayContaining([
      "brand.csv",
      "brand.json",
      "model.csv",
      "size.csv",
      "size.json",
      "datapackage.json",
    ]),
  );
});
