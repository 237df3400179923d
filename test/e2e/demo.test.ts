import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { temporaryFolder } from "../support/run-armoire.ts";

it("all claims of the demo hold, and its files are in ./demo/", { timeout: 60_000 }, async () => {
  await using folder = await temporaryFolder();
  const demo = join(import.meta.dirname, "demo.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [demo], { cwd: folder.path });
  expect(stdout).not.toContain("✗");
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
