/** A folder for a ledger, and the budgets of runs that share it. */
import { join } from "node:path";
import type { Clock } from "../../../src/platform/clock.ts";
import { createRunBudget, type RunBudget } from "../../../src/sync/rate-limit/run-budget.ts";
import { openLedger } from "../../../src/sync/rate-limit/store/ledger-store.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

export interface LedgerFolder extends AsyncDisposable {
  readonly file: string;
}

export async function makeLedgerFolder(): Promise<LedgerFolder> {
  const folder = await temporaryFolder();
  return {
    file: join(folder.path, "ledger.sqlite"),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

export const rootUrl = "https://api.example/";

/** Stands still, except during `sleep`. */
export interface TestClock extends Clock {
  time: number;
}

export function testClock(): TestClock {
  return {
    time: Date.parse("2026-03-01T12:00:00Z"),
    now() {
      return this.time;
    },
    random: () => 0,
    async sleep(millis, signal) {
      signal?.throwIfAborted();
      this.time += millis;
    },
  };
}

export interface RunBudgetSetup {
  readonly file: string;
  readonly clock: Clock;
  readonly origin?: string;
  readonly budget?: number | null;
  readonly reserve?: number;
}

/** The budget of one run, without a credential. */
export async function openRunBudget({
  file,
  clock,
  origin = "https://api.example",
  budget = null,
  reserve = 0,
}: RunBudgetSetup): Promise<RunBudget> {
  const ledger = await openLedger({ file, principal: { origin, credential: null } });
  const bound: Clock = {
    now: () => clock.now(),
    random: () => clock.random(),
    sleep: (millis, signal) => clock.sleep(millis, signal),
  };
  return createRunBudget({ ledger, rootUrl, budget, reserve, clock: bound });
}
