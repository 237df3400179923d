import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { environmentOf, lastingPath } from "../../src/cli/self-command.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { fakeIo } from "./support/fake-io.ts";

it("paths in the environment of a started command are absolute", () => {
  const env = {
    ARMOIRE_REDIS_URL_FILE: "secrets/redis",
    ARMOIRE_TOKEN_FILE: "/run/token",
    ARMOIRE_APP_KEY_FILE: "",
  };
  const handed = { dataDir: "/data", baseUrl: null, serviceName: null };
  expect(environmentOf(handed, { ...fakeIo(), env })).toEqual({
    ...{ ARMOIRE_REDIS_URL_FILE: resolve("secrets/redis"), ARMOIRE_TOKEN_FILE: "/run/token" },
    ...{ ARMOIRE_APP_KEY_FILE: "", ARMOIRE_DATA_DIR: "/data" },
  });
});

it("a scheduler gets the clone's path instead of npx's link to it", async () => {
  await using temporary = await temporaryFolder();
  const program = join(temporary.path, "armoire.js");
  writeFileSync(program, "");
  const cache = join(temporary.path, "_npx", "3f92");
  mkdirSync(cache, { recursive: true });
  symlinkSync(program, join(cache, "armoire"));
  expect(lastingPath(join(cache, "armoire"))).toBe(realpathSync(program));
  expect(lastingPath(program)).toBe(program);
});

it("a program in npx's cache is refused to a scheduler", async () => {
  await using temporary = await temporaryFolder();
  const cache = join(temporary.path, "_npx", "3f92");
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, "armoire"), "");
  expect(() => lastingPath(join(cache, "armoire"))).toThrow("npx's cache");
});
