import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { callArmoire, type RunOptions } from "../../support/run-armoire.ts";
import { expectRefusal } from "./expect-refusal.ts";
import { type Fixture, listAll } from "./fixture.ts";

export type RefusedCase = readonly [
  args: (fixture: Fixture) => readonly string[],
  exitCode: number,
  message: RegExp,
  env?: (fixture: Fixture) => NonNullable<RunOptions["env"]>,
];

/** Calls a command that must be refused without creating a data directory or changing any file. */
export async function expectRefused(
  fixture: Fixture,
  [args, exitCode, message, env]: RefusedCase,
): Promise<void> {
  const held = readFileSync(fixture.mirror);
  const before = await listData(fixture);
  const result = await callArmoire(args(fixture), {
    env: { ARMOIRE_DATA_DIR: fixture.newPath(), ...env?.(fixture) },
  });
  expectRefusal(result, exitCode, message);
  expect(await listData(fixture)).toEqual(before);
  expect(readFileSync(fixture.mirror).equals(held)).toBe(true);
}

/** All files, without locks and the WAL files of mirrors that other tests have open. */
async function listData({ folder }: Fixture): Promise<string[]> {
  return (await listAll(folder)).filter((path) => !/-wal$|-shm$|\.lock$|\.holder\.json$/.test(path));
}
