/** Several processes, one ledger, one allowance. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { openLedger, readWindow } from "../../../src/sync/rate-limit/store/ledger-store.ts";
import { openRateLimitedClient } from "../../../src/sync/run/rate-limited-client.ts";
import { makeLedgerFolder } from "../support/ledger-folder.ts";

const program = join(import.meta.dirname, "../support/requesting-process.ts");
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

function startProcess(url: string, file: string, concurrency: number): ChildProcess {
  const args = [program, url, file, String(concurrency)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  return child;
}

/** @returns the number of requests that the process sent */
async function waitForExit(child: ChildProcess): Promise<number> {
  let output = "";
  child.stdout?.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  expect(await once(child, "close")).toEqual([0, null]);
  return Number(output);
}

it("three processes together spend exactly the allowance, from the first request on", async () => {
  await using sandbox = await startSandbox({ allowance: 100, latencyMillis: 2 });
  await using folder = await makeLedgerFolder();
  const sent = await Promise.all([1, 2, 3].map(() => waitForExit(startProcess(sandbox.url, folder.file, 6))));
  expect(sent.reduce((sum, count) => sum + count)).toBe(100);
  expect(sandbox.log().map(({ status }) => status)).toEqual(Array(100).fill(200));
});

it("the leases of a killed process count as spent until a response reports the remaining count", async () => {
  await using sandbox = await startSandbox({ allowance: 60, latencyMillis: 30 });
  await using folder = await makeLedgerFolder();
  const principal = { origin: new URL(sandbox.url).origin, credential: null };
  const child = startProcess(sandbox.url, folder.file, 8);
  while (sandbox.log().length < 20) await delay(5);
  child.kill("SIGKILL");
  await once(child, "close");
  const openLeases = Object.values(readWindow(folder.file, principal)?.openLeases ?? {});
  const held = openLeases.reduce((sum, count) => sum + count, 0);
  expect(held).toBeGreaterThan(0);

  const ledger = await openLedger({ file: folder.file, principal });
  const { state } = ledger.update((state) => ({ state, result: null }), systemClock.now());
  ledger.close();
  expect(state).toMatchObject({ openLeases: {}, unreported: { requests: held } });

  const { client, runBudget, close } = await openRateLimitedClient({
    ...{ baseUrl: sandbox.url, ledgerFile: folder.file, credential: null, budget: null, reserve: 0 },
    ...{ connections: 1, clock: systemClock },
  });
  await client.fetch({ url: new URL("brands/", sandbox.url).href });
  expect(runBudget.state.remaining).toBe(60 - sandbox.log().filter(({ counted }) => counted).length);
  await close();
  await waitForExit(startProcess(sandbox.url, folder.file, 4));
  expect(sandbox.log().filter(({ counted }) => counted).length).toBe(60);
  expect(sandbox.log().filter(({ status }) => status !== 200)).toEqual([]);
});
