/** Workers for many accounts, whose tokens are in one file. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { bearerToken } from "../../src/service/credentials/credential.ts";
import { sync } from "../../src/sync/sync.ts";
import { writeSecretFile } from "../support/canary.ts";
import { startRedis } from "../support/redis.ts";
import { runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

it("a worker sends the requests of all accounts of a file, and touches its heartbeat", async () => {
  await using folder = await temporaryFolder();
  await using redis = await startRedis();
  await using sandbox = await startSandbox({ brands: 1, models: 2, sizes: 4, users: 2 });
  const tokens = sandbox.users.map(({ token }) => token);
  const [file, heartbeat] = [join(folder.path, "principals"), join(folder.path, "heartbeat")];
  writeSecretFile(file, `# accounts\nada ${tokens[0]}\n\ngrace\t${tokens[1]}\n`);
  const worker = startArmoire([
    ...["worker", "--redis", redis.url, "--base-url", sandbox.url, "--data-dir", folder.path],
    ...["--principals", file, "--heartbeat", heartbeat],
  ]);
  for await (const line of createInterface(worker.process.stderr))
    if (line.includes("Sending requests for ada, grace")) break;
  for (const [n, principal] of ["ada", "grace"].entries()) {
    const report = await sync({
      ...{ file: join(folder.path, `${principal}.sqlite`), baseUrl: sandbox.url, area: "account" },
      ...{ credential: bearerToken(tokens[n] ?? ""), workers: { redis: redis.url, principal } },
    });
    expect(report.complete).toBe(true);
  }
  await expect.poll(() => existsSync(heartbeat)).toBe(true);
  expect(Date.now() - statSync(heartbeat).mtimeMs).toBeLessThan(60_000);
  worker.process.kill("SIGTERM");
  expect(await worker.result).toMatchObject({ exitCode: 0 });
});

it.each([
  ["a line without a token", "ada\n", "Line 1"],
  ["the catalogue's name", "catalogue canary-aaaaaaaaaaaaaaaaaaaa\n", "Line 1"],
  ["a name twice", "ada canary-aaaaaaaaaaaaaaaaaaaa\nada canary-bbbbbbbbbbbbbbbbbbbb\n", "ada twice"],
  ["nothing", "# nobody\n", "no account"],
])("a file of principals with %s is refused without showing it", async (_, content, shown) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "principals");
  writeSecretFile(file, content);
  const { stderr, exitCode } = await runArmoire([
    ...[
      "worker",
      "--redis",
      "redis://127.0.0.1:9",
      "--base-url",
      "http://127.0.0.1:9/",
      "--principals",
      file,
    ],
  ]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 4, stderr: expect.stringContaining(shown) });
  expect(stderr).not.toContain("canary-");
});
