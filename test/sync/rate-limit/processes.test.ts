/** Several processes, one ledger, one allowance. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { openLedger, readWindow } from "../../../src/sync/rate-limit/ledger.ts";
import { openRateLimitedClient } from "../../../src/sync/run/rate-limited-client.ts";
import { makeLedgerFolder } from "../support/ledger-folder.ts";

const program = join(import.meta.dirname, "../support/asking-process.ts");
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

function startAsking(url: string, file: string, clients: number): ChildProcess {
  const args = [program, url, file, String(clients)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  return child;
}

async function ended(child: ChildProcess): Promise<number> {
  let text = "";
  child.stdout?.on("data", (piece: Buffer) => {
    text += piece.toString();
  });
  expect(await once(child, "close")).toEqual([0, null]);
  return Number(text);
}

it("three processes together spend exactly what there is, from the first request on", async () => {
  await using sandbox = await startSandbox({ allowance: 100, latencyMillis: 2 });
  await using folder = await makeLedgerFolder();
  const sent = await Promise.all([1, 2, 3].map(() => ended(startAsking(sandbox.url, folder.file, 6))));
  expect(sent.reduce((sum, count) => sum + count)).toBe(100);
  expect(sandbox.log().map(({ status }) => status)).toEqual(Array(100).fill(200));
}, 30_000);

it("what a killed process held open is spent until an answer says otherwise, and then no more", async () => {
  await using sandbox = await startSandbox({ allowance: 60, latencyMillis: 30 });
  await using folder = await makeLedgerFolder();
  const principal = { origin: new URL(sandbox.url).origin, credential: null };
  const child = startAsking(sandbox.url, folder.file, 8);
  while (sandbox.log().length < 20) await delay(5);
  child.kill("SIGKILL");
  await once(child, "close");
  const left = readWindow(folder.file, principal);
  const open = Object.values(left?.open ?? {}).reduce((sum, count) => sum + count, 0);
  expect(open).toBeGreaterThan(0);

  const ledger = openLedger({ file: folder.file, principal });
  const { state } = ledger.update((state) => ({ state, result: null }), systemClock.now());
  ledger.close();
  expect(state).toMatchObject({ open: {}, untold: { requests: open } });

  const {
    client: service,
    runBudget: allowance,
    close,
  } = openRateLimitedClient({
    ...{ baseUrl: sandbox.url, ledgerFile: folder.file, credential: null, budget: null, reserve: 0 },
    ...{ connections: 1, clock: systemClock },
  });
  await service.fetch({ url: new URL("brands/", sandbox.url).href });
  expect(allowance.state.remaining).toBe(60 - sandbox.log().filter(({ counted }) => counted).length);
  await close();
  await ended(startAsking(sandbox.url, folder.file, 4));
  expect(sandbox.log().filter(({ counted }) => counted).length).toBe(60);
  expect(sandbox.log().filter(({ status }) => status !== 200)).toEqual([]);
}, 30_000);
