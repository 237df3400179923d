import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { checkMirror } from "../../../src/mirror/check/check.ts";
import { readMirror } from "../../../src/mirror/reader.ts";
import { type Lock, takeLock } from "../../../src/platform/process-lock.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { sync } from "../../../src/sync/sync.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

it("a sync whose lock file was removed ends when another process takes the lock, and the next one goes on", async () => {
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 4, models: 8, sizes: 16 });
  const file = join(folder.path, "catalogue.sqlite");
  let other: Lock | undefined;
  const request = { file, baseUrl: sandbox.url };
  const first = sync({
    ...request,
    onProgress() {
      if (other !== undefined) return;
      rmSync(`${file}.lock`);
      other = takeLock(file, { startedAt: "2026-01-01T00:00:00.000Z", busyMessage: "The mirror is in use" });
    },
  });
  await expect(first).rejects.toMatchObject({
    code: "locked",
    message: expect.stringContaining(`is in use by process ${process.pid}`),
  });
  other?.release();
  expect(await sync(request)).toMatchObject({ complete: true });
  expect(readMirror(file, (mirror) => checkMirror(mirror, kinds)).problems).toEqual([]);
});
