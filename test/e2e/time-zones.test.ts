/** The machine's time zone has no effect: the service's times without a zone stay as sent, and Armoire's own times are UTC. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunRecord } from "../../src/mirror/runs/run-log.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import type { SyncReport } from "../../src/sync/report.ts";
import { type CommandResult, callArmoire, runArmoire, temporaryFolder } from "../support/run-armoire.ts";

const daySeconds = 86_400;
/** Eighteen hours apart; other tests run in UTC. */
const zones = ["Pacific/Kiritimati", "America/St_Johns"];
const dated = "select href, last_modified_at from brand union all select href, last_modified_at from model";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
const { TZ: ownZone } = process.env;
beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({
    brands: 4,
    models: 8,
    sizes: 12,
    allowance: 500,
    windowSeconds: daySeconds,
  });
});
afterAll(async () => {
  if (ownZone === undefined) delete process.env.TZ;
  else process.env.TZ = ownZone;
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

async function inZone(zone: string) {
  const dataDir = join(folder.path, zone.replace("/", "-"));
  const settings = ["--data-dir", dataDir, "--base-url", sandbox.url, "--json"];
  const outputOf = ({ stdout, stderr, exitCode }: CommandResult): string => {
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return stdout;
  };
  const sync = async () =>
    outputOf(await runArmoire(["sync", "--quiet", ...settings], { env: { TZ: zone } }));
  const call = async (...args: readonly string[]) => outputOf(await callArmoire([...args, ...settings]));
  const begun = Date.now();
  await sync();
  const secondReport = JSON.parse(await sync()) as SyncReport;
  process.env.TZ = zone;
  const [run] = JSON.parse(await call("runs")) as RunRecord[];
  return { begun, again: secondReport, run, dates: await call("query", `${dated} order by href`) };
}

it("mirrored data, times and the renewal of the allowance do not depend on the time zone", async () => {
  const seen: Awaited<ReturnType<typeof inZone>>[] = [];
  for (const zone of zones) seen.push(await inZone(zone));
  for (const { begun, again: secondReport, run, dates } of seen) {
    expect(dates).toBe(seen[0]?.dates);
    expect(secondReport.requests).toMatchObject({ counted: 0, notModified: secondReport.requests.sent });
    const resetsIn = Date.parse(secondReport.allowance.resetAt ?? "") - begun;
    expect(Math.abs(resetsIn - daySeconds * 1000)).toBeLessThan(600_000);
    expect(run?.startedAt).toMatch(/Z$/);
    expect(Math.abs(Date.parse(run?.startedAt ?? "") - begun)).toBeLessThan(600_000);
  }
  expect(JSON.parse(seen[0]?.dates ?? "")).toHaveLength(12);
});
