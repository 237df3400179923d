/**
 * Runs after all tests: fails if a secret was found in a file that Armoire wrote during any of them, or if nothing was
 * searched. The test that leaked has usually failed by itself too.
 */
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { type CanaryRecord, readCanaryRecord, requireNoSecrets } from "./canary.ts";

/** A whole run searches more than this. */
const minimum = { files: 2_000, bytes: 50_000_000 };

export default function setup(project: TestProject): () => Promise<void> {
  const folder = tmpdir();
  const recordFile = join(folder, "canary.ndjson");
  process.env.ARMOIRE_TESTS_CANARY = recordFile;
  return async () => {
    // Node's compile cache of the tests contains the tests' own secrets. Processes that end now would write to it again.
    const cache = join(folder, "compile-cache");
    if (existsSync(cache)) renameSync(cache, `${cache}-ended`);
    writeFileSync(cache, "");
    rmSync(`${cache}-ended`, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    const record = readCanaryRecord(recordFile);
    rmSync(recordFile, { force: true });
    await requireNoSecrets(folder, undefined);
    checkCanaryRecord(record, await ranWhole(project));
  };
}

/** @throws Error if secrets were found, or a whole run searched almost nothing */
export function checkCanaryRecord({ files, bytes, leaks }: CanaryRecord, isWhole: boolean): void {
  if (leaks.length > 0) throw new Error(`The tests left secrets:\n${leaks.join("\n")}`);
  if (isWhole && (files < minimum.files || bytes < minimum.bytes))
    throw new Error(`The canary searched ${files} files of ${bytes} bytes only: tests write elsewhere.`);
}

async function ranWhole(project: TestProject): Promise<boolean> {
  if (project.config.testNamePattern !== undefined) return false;
  const { testFiles } = await project.globTestFiles();
  // `npm run test:programs` has few files, which write less.
  if (testFiles.length < 100) return false;
  return project.vitest.state.getFiles().length === testFiles.length;
}
