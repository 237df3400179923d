import { afterEach, expect, it, vi } from "vitest";
import { openBrowser } from "../../../src/cli/terminal/open-browser.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

afterEach(() => vi.unstubAllEnvs());

it("says if there is no program that opens addresses", async () => {
  await using folder = await temporaryFolder();
  vi.stubEnv("PATH", folder.path);
  expect(await openBrowser("http://127.0.0.1:8900/")).toBe(false);
});
