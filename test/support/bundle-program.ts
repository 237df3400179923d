/**
 * Bundles the program from its sources, as `npm run build` does, before the tests that start it: several hundred of its
 * processes start in half the time.
 */
import { execFileSync } from "node:child_process";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

export default async function setup(): Promise<() => void> {
  const folder = join(tmpdir(), "program");
  execFileSync(process.execPath, [join(import.meta.dirname, "bundle-into.ts"), folder], { stdio: "inherit" });
  // Node.js parses every file twice unless it knows that all are modules.
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  // The program finds the packages that are not in the bundle through it.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir");
  process.env.ARMOIRE_TESTS_PROGRAM = join(folder, "armoire.js");
  // The program contains the prefixes of secrets, but did not write them.
  return () => rmSync(folder, { recursive: true, force: true });
}
