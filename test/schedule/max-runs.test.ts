import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { runSchedules } from "../../src/schedule/run/run-schedules.ts";
import { addSchedule } from "../../src/schedule/schedules.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

it("at most the given number of runs is active at a time, and all of them get their turn", async () => {
  await using folder = await temporaryFolder();
  const dataDir = join(folder.path, "data");
  const names = ["a", "b", "c", "d", "e"];
  for (const name of names)
    addSchedule({
      ...{ name, dataDir, clock: systemClock, cron: "* * * * * *", tz: "UTC", jitterMillis: 0 },
      ...{ args: ["sync"], folder: folder.path, mirror: `mirror-${name}` },
    });
  const active = new Set<string>();
  const ended = new Set<string>();
  let most = 0;
  const stop = new AbortController();
  await runSchedules({
    ...{ dataDir, clock: systemClock, signal: stop.signal, maxRuns: 2, redact: (text: string) => text },
    program: { command: process.execPath, args: ["-e", "setTimeout(() => {}, 100)", "--"], env: process.env },
    onReady: () => {},
    onWarning: () => {},
    onLine: () => {},
    onStart({ name }) {
      active.add(name);
      most = Math.max(most, active.size);
    },
    onEnd({ name }) {
      active.delete(name);
      ended.add(name);
      if (ended.size === names.length) stop.abort("SIGTERM");
    },
  });
  expect({ most, ended: [...ended].sort() }).toEqual({ most: 2, ended: names });
});
