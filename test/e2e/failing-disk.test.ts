/** Calls of the operating system that fail while a command runs: the error is that of the disk, not damage and not a bug. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { armoireProgram } from "../support/armoire-program.ts";
import { writeSecretFile } from "../support/canary.ts";
import { type ModeName, modes } from "../torture/support/modes.ts";
import { type Disturbance, execute } from "../torture/support/operations.ts";
import { buildShim } from "../torture/support/shim.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";

const shim = buildShim();
let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

const status = () => ["status", "--mirror", fixture.mirror];
function addAccount() {
  const tokenFile = fixture.newPath();
  writeSecretFile(tokenFile, fixture.sandbox.users[0]?.token ?? "");
  const dataDir = ["--data-dir", join(fixture.newPath(), "data")];
  return ["account", "add", "ada", "--token-file", tokenFile, "--base-url", fixture.sandbox.url, ...dataDir];
}

it.each<[ModeName, string, RegExp, () => readonly string[], number]>([
  ["EIO of a read", "status", /Cannot read the mirror \(a read failed\)/, status, 4],
  ["EIO of a read", "status", /Cannot read the mirror \(a read failed\)/, status, 12],
  ["EMFILE from then on", "account add", /Cannot read or write \S+ \(EMFILE\)/, addAccount, 2],
  ["EMFILE from then on", "account add", /Cannot create or open \D+ \S+ \(EMFILE\)/, addAccount, 8],
])("%s ends `armoire %s` with that error in two lines (%#)", async (name, _, message, argsOf, at) => {
  // Without the shim there is nothing to test.
  if (shim.path === null) return void process.stdout.write(`No failing calls here: ${shim.why}.\n`);
  const scratch = fixture.newPath();
  mkdirSync(scratch);
  const disturbance = { ...modes[name], at } as Disturbance;
  const args = [armoireProgram, ...argsOf()];
  const { wasDisturbed, exitCode, stderr } = await execute({
    ...{ shim: shim.path, root: fixture.folder, scratch, args, disturbance },
  });
  const lines = RegExp(`^armoire: ${message.source}.*\\n.*\\n$`);
  expect({ wasDisturbed, exitCode, stderr }).toEqual({
    ...{ wasDisturbed: true, exitCode: 1, stderr: expect.stringMatching(lines) },
  });
});
