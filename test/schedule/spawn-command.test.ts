import { expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { spawnCommand } from "../../src/schedule/run/spawn-command.ts";

it("a process that a scheduled command leaves in the background does not keep the run waiting", async () => {
  const { stdout, ...result } = await spawnCommand({
    program: { command: "/bin/sh", args: ["-c", "sleep 600 & echo $!"], env: { PATH: process.env.PATH } },
    ...{ args: [], folder: "/", clock: systemClock, onLine: () => {} },
    signal: new AbortController().signal,
  });
  process.kill(Number(stdout));
  expect(result).toEqual({ exitCode: 0, problem: null });
});
