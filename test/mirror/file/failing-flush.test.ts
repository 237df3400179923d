/** Flushes that fail while a mirror is created, written and closed: none ends in success, and no broken file is left. */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { isThorough } from "../../support/thorough.ts";
import { problemsOf, soundnessOf } from "../../torture/support/check-outcome.ts";
import { modes } from "../../torture/support/modes.ts";
import { execute, type Operation } from "../../torture/support/operations.ts";
import { buildShim } from "../../torture/support/shim.ts";
import { startMirrorRig } from "../support/mirror-rig.ts";

const shim = buildShim();
const program = join(import.meta.dirname, "../support/opening-process.ts");
const mode = modes["EIO of fsync, power cut"];

/** The log is flushed at each commit, which SQLite reports. */
const isOfLog = ({ path }: Operation) => path.endsWith("-wal");

it("a flush that fails while a mirror is created, written or closed is an error, and the next start succeeds", async () => {
  // Without the shim there is nothing to test.
  if (shim.path === null) return void process.stdout.write(`No failing flushes here: ${shim.why}.\n`);
  await using folder = await temporaryFolder();
  await using rig = await startMirrorRig(undefined, { makesItself: true });
  const scratch = join(folder.path, "scratch");
  mkdirSync(scratch);
  const given = { shim: shim.path, root: rig.folder, scratch, args: [program, rig.file] };
  const undisturbed = await execute(given);
  expect(undisturbed).toMatchObject({ exitCode: 0, stderr: "" });
  const flushes = undisturbed.operations.filter(({ op }) => op === "sync" || op === "syncFolder");
  const points = flushes.map((flush, n) => ({ flush, at: n + 1 }));
  const tried = points.filter(({ flush }) => isThorough || (flush.op === "sync" && !isOfLog(flush)));
  // Of the new file twice, at its checkpoint and before it is renamed; and of the file that was written.
  expect(tried.length).toBeGreaterThan(2);
  for (const { flush, at } of tried) {
    rmSync(rig.folder, { recursive: true });
    mkdirSync(rig.folder);
    const execution = await execute({ ...given, disturbance: { ...mode, at } });
    const found = { flush: [flush.op, flush.path], problems: problemsOf(execution, mode) };
    expect(found).toEqual({ ...found, problems: [] });
    expect(execution.wasDisturbed).toBe(true);
    // A new mirror is there whole, or not at all.
    expect(existsSync(rig.file) ? soundnessOf(rig.file) : []).toEqual([]);
    (await rig.write()).close();
    expect(soundnessOf(rig.file)).toEqual([]);
  }
});
