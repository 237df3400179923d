import { readFileSync } from "node:fs";
import { expect } from "vitest";
import { type RunOptions, runArmoire } from "../../support/run-armoire.ts";
import { expectRefusal } from "./expect-refusal.ts";
import { type Fixture, listAll } from "./fixture.ts";

export type RefusedCase = readonly [
  args: (fixture: Fixture) => readonly string[],
  exitCode: number,
  says: RegExp,
  env?: (fixture: Fixture) => NonNullable<RunOptions["env"]>,
];

/** Runs the program where it is to refuse; then there must be no data directory, and all else as it was. */
export async function expectRefused(
  fixture: Fixture,
  [args, exitCode, message, env]: RefusedCase,
): Promise<void> {
  const held = readFileSync(fixture.mirror);
  const before = await listData(fixture);
  const result = await runArmoire(args(fixture), {
    cwd: fixture.folder,
    env: { ARMOIRE_DATA_DIR: fixture.newPath(), ...env?.(fixture) },
  });
  expectRefusal(result, exitCode, message);
  expect(await listData(fixture)).toEqual(before);
  expect(readFileSync(fixture.mirror).equals(held)).toBe(true);
}

/** Without locks, whose files stay, and what SQLite keeps beside a file that another test has open at the same time. */
async function listData({ folder }: Fixture): Promise<string[]> {
  return (await listAll(folder)).filter((path) => !/-wal$|-shm$|\.lock$|\.holder\.json$/.test(path));
}
