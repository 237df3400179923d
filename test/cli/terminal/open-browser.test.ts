import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openBrowser } from "../../../src/cli/terminal/other-programs.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

it("says if there is no program that opens addresses", async () => {
  await using folder = await temporaryFolder();
  expect(await openBrowser("http://127.0.0.1:8900/", { PATH: folder.path })).toBe(false);
});

it.runIf(process.platform === "linux")("gives the browser no secrets", async () => {
  await using folder = await temporaryFolder();
  const opener = join(folder.path, "xdg-open");
  const seen = join(folder.path, "seen");
  writeFileSync(opener, `#!/bin/sh\n/usr/bin/env > ${seen}.new && /bin/mv ${seen}.new ${seen}\n`, {
    mode: 0o700,
  });
  const env = { PATH: folder.path, DISPLAY: ":0", ARMOIRE_APP_SECRET: "secret-of-mine" };
  expect(await openBrowser("http://127.0.0.1:8900/", env)).toBe(true);
  await expect.poll(() => existsSync(seen)).toBe(true);
  const text = readFileSync(seen, "utf8");
  expect(text).toContain("DISPLAY=:0");
  expect(text).not.toContain("ARMOIRE_APP_SECRET");
});
