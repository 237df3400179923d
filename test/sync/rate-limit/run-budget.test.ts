import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RateLimitHeaders } from "../../../src/service/requests/headers.ts";
import { type AttemptReport, noResponse, type Permit } from "../../../src/service/requests/rate-limiter.ts";
import { createRunBudget, type RunBudget } from "../../../src/sync/rate-limit/run-budget.ts";
import type { Ledger } from "../../../src/sync/rate-limit/store/ledger-store.ts";
import { emptyWindow, type WindowState } from "../../../src/sync/rate-limit/window.ts";
import { tries } from "../../support/thorough.ts";
import { makeLedgerFolder, openRunBudget, rootUrl, testClock } from "../support/ledger-folder.ts";

const request = { url: "https://api.example/brands/" };
const start = testClock().time;
const tomorrow = start + 86_400_000;

function response(status: number, reading: Partial<RateLimitHeaders> | null = null): AttemptReport {
  const allowance = reading && { limit: 30, remaining: null, resetAt: tomorrow, ...reading };
  return { ...noResponse, status, allowance };
}

/** Whether a promise is settled, after all pending callbacks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const isDone = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([isDone, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
}

async function withBudget(
  options: { budget?: number; reserve?: number },
  use: (runBudget: RunBudget, clock: ReturnType<typeof testClock>) => Promise<void>,
): Promise<void> {
  await using folder = await makeLedgerFolder();
  const clock = testClock();
  const runBudget = await openRunBudget({ file: folder.file, clock, ...options });
  await use(runBudget, clock);
  runBudget.close();
}

describe("limits", () => {
  it("permits are given one at a time until a response reports the remaining count", () =>
    withBudget({}, async (runBudget) => {
      const first = await runBudget.acquirePermit(request);
      const second = runBudget.acquirePermit(request);
      expect(await isSettled(second)).toBe(false);
      first.release(noResponse);
      const retried = await second;
      const third = runBudget.acquirePermit(request);
      expect(await isSettled(third)).toBe(false);
      retried.release(response(200, { remaining: 20 }));
      (await third).release(response(200, { remaining: 19 }));
    }));

  it("whoever waits for a permit gets the error of a ledger that can no longer be written", async () => {
    let isBroken = false;
    let state: WindowState = emptyWindow;
    const ledger: Ledger = {
      session: "session",
      update(change, _now) {
        if (isBroken) throw new Error("cannot write the ledger");
        const changed = change(state);
        state = changed.state;
        return changed;
      },
      close() {},
    };
    const clock = { ...testClock(), now: () => start };
    const runBudget = createRunBudget({ ledger, rootUrl, budget: null, reserve: 0, clock });
    const first = await runBudget.acquirePermit(request);
    const second = runBudget.acquirePermit(request);
    expect(await isSettled(second)).toBe(false);
    isBroken = true;
    expect(() => first.release(noResponse)).toThrow("cannot write the ledger");
    await expect(second).rejects.toThrow("cannot write the ledger");
  });

  it("permits never exceed the remaining count, even if every running request is counted", () =>
    withBudget({}, async (runBudget) => {
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 2 }));
      const [first, second] = await Promise.all([
        runBudget.acquirePermit(request),
        runBudget.acquirePermit(request),
      ]);
      const third = runBudget.acquirePermit(request);
      expect(await isSettled(third)).toBe(false);
      first.release(response(404, { remaining: 2 }));
      (await third).release(response(200, { remaining: 1 }));
      second.release(response(200, { remaining: 0 }));
    }));

  it("the request after the first 304 is sent alone, so that its response shows the price of a 304", () =>
    withBudget({}, async (runBudget) => {
      const first = await runBudget.acquirePermit(request);
      first.release(response(200, { limit: 5000, remaining: 4000 }));
      (await runBudget.acquirePermit(request)).release(response(304, { limit: 5000, remaining: 3999 }));
      expect(runBudget.state.checkPrice).toBe("free");
      const permits = [await runBudget.acquirePermit(request), runBudget.acquirePermit(request)] as const;
      expect(await isSettled(permits[1])).toBe(false);
      permits[0].release(response(304, { limit: 5000, remaining: 3998 }));
      (await permits[1]).release(response(304, { limit: 5000, remaining: 3997 }));
      expect(runBudget.state.checkPrice).toBe("counted");
    }));

  it("permits are refused once nothing remains, with the time of the reset", () =>
    withBudget({}, async (runBudget) => {
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 0 }));
      await expect(runBudget.acquirePermit(request)).rejects.toMatchObject({
        code: "allowance-spent",
        resumeAt: tomorrow,
      });
      expect(runBudget.refusal).toBe("allowance");
      expect(runBudget.counts.sent).toBe(1);
    }));

  it("permits are given again after the reset, one at a time at first", () =>
    withBudget({}, async (runBudget, clock) => {
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 0 }));
      clock.time = tomorrow;
      const first = await runBudget.acquirePermit(request);
      const second = runBudget.acquirePermit(request);
      expect(await isSettled(second)).toBe(false);
      first.release(response(200, { remaining: 29, resetAt: tomorrow + 86_400_000 }));
      (await second).release(noResponse);
    }));

  it("permits follow the lowest remaining count of a window, whatever the order of the responses", () =>
    withBudget({}, async (runBudget) => {
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 9 }));
      const permits = await Promise.all([runBudget.acquirePermit(request), runBudget.acquirePermit(request)]);
      permits[1].release(response(200, { remaining: 7 }));
      permits[0].release(response(200, { remaining: 8 }));
      const expected = { limit: 30, remaining: 7, resetAt: tomorrow, isReported: true };
      expect(runBudget.state).toMatchObject(expected);
    }));

  it("permits leave the reserve unspent", () =>
    withBudget({ reserve: 5 }, async (runBudget) => {
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 6 }));
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 5 }));
      await expect(runBudget.acquirePermit(request)).rejects.toMatchObject({ resumeAt: tomorrow });
      expect(runBudget.refusal).toBe("allowance");
    }));

  it("permits end with the budget, which free responses and unsent requests do not spend", () =>
    withBudget({ budget: 1 }, async (runBudget) => {
      const root = await runBudget.acquirePermit({ ...request, url: rootUrl });
      root.release(response(200, { remaining: 30 }));
      (await runBudget.acquirePermit(request)).release(response(304, { remaining: 30 }));
      (await runBudget.acquirePermit(request)).release({ ...noResponse, isSent: false });
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 29 }));
      await expect(runBudget.acquirePermit(request)).rejects.toMatchObject({ resumeAt: null });
      expect(runBudget.refusal).toBe("budget");
      expect(runBudget.counts).toMatchObject({ sent: 4, counted: 1, notModified: 1 });
    }));

  it("requests without a response are counted, and known apart", () =>
    withBudget({}, async (runBudget) => {
      (await runBudget.acquirePermit(request)).release(response(200, { remaining: 20 }));
      (await runBudget.acquirePermit(request)).release(noResponse);
      (await runBudget.acquirePermit(request)).release({ ...noResponse, isSent: false });
      expect(runBudget).toMatchObject({ counts: { sent: 3, counted: 2 }, unanswered: 1 });
    }));

  it("permits are not leased for a cancelled request", () =>
    withBudget({}, async (runBudget) => {
      const first = await runBudget.acquirePermit(request);
      const controller = new AbortController();
      const second = runBudget.acquirePermit({ ...request, signal: controller.signal });
      controller.abort(new Error("no more"));
      first.release(response(200, { remaining: 1 }));
      await expect(second).rejects.toThrow("no more");
      expect(runBudget.state.remaining).toBe(1);
    }));
});

describe("Retry-After", () => {
  const throttled = (millis: number): AttemptReport => ({
    ...response(429, { remaining: 20 }),
    retryAt: start + millis,
  });

  it("a Retry-After of up to a minute delays every request", () =>
    withBudget({}, async (runBudget, clock) => {
      (await runBudget.acquirePermit(request)).release(throttled(60_000));
      const permits = await Promise.all([runBudget.acquirePermit(request), runBudget.acquirePermit(request)]);
      expect(clock.time).toBeGreaterThanOrEqual(start + 60_000);
      for (const permit of permits) permit.release(noResponse);
    }));

  it("a Retry-After of more than a minute refuses permits, with the time to resume", () =>
    withBudget({}, async (runBudget) => {
      (await runBudget.acquirePermit(request)).release(throttled(60_001));
      await expect(runBudget.acquirePermit(request)).rejects.toMatchObject({ resumeAt: start + 60_001 });
    }));

  it("a Retry-After delays requests no longer after the clock is set back", () =>
    withBudget({}, async (runBudget, clock) => {
      (await runBudget.acquirePermit(request)).release(throttled(50_000));
      const { sleep } = clock;
      clock.time -= 366 * 86_400_000;
      clock.sleep = async (millis, signal) => {
        expect(millis).toBeLessThanOrEqual(50_000);
        await sleep.call(clock, millis, signal);
      };
      (await runBudget.acquirePermit(request)).release(noResponse);
    }));
});

// Runs of two processes with 8 clients each, over one file that each request is written to twice.
it("16 concurrent requests spend an allowance of 100 exactly, however they interleave", async () => {
  await using folder = await makeLedgerFolder();
  const clock = testClock();
  let interleaving = 0;
  await fc.assert(
    fc.asyncProperty(fc.infiniteStream(fc.nat(15)), fc.nat(20), async (picks, freeOutOf20) => {
      const origin = `https://${interleaving++}.example`;
      const runs = await Promise.all([1, 2].map(() => openRunBudget({ file: folder.file, clock, origin })));
      const service = createService(100, freeOutOf20);
      const running: { permit: Permit; report: AttemptReport }[] = [];
      let clients = 0;
      const requestUntilRefused = async (run: RunBudget) => {
        for (;;) {
          const permit = await run.acquirePermit(request).catch(() => null);
          if (permit === null) break;
          await new Promise<void>((resolve) => {
            const release = permit.release.bind(permit);
            const report = service.respond(picks.next().value ?? 0);
            running.push({
              permit: {
                release(given) {
                  release(given);
                  resolve();
                },
              },
              report,
            });
          });
        }
        clients--;
      };
      for (const run of runs) {
        for (let n = 0; n < 8; n++) {
          clients++;
          void requestUntilRefused(run);
        }
      }
      while (clients > 0) {
        await new Promise((resolve) => setImmediate(resolve));
        const [next] = running.splice((picks.next().value ?? 0) % Math.max(1, running.length), 1);
        next?.permit.release(next.report);
      }
      for (const run of runs) run.close();
      expect(service.counted).toBe(100);
      expect(service.refused).toBe(0);
    }),
    { numRuns: tries(40, 5000) },
  );
});

/** Grants a number of counted requests, and reports how many remain. */
function createService(granted: number, freeOutOf20: number) {
  let requests = 0;
  return {
    counted: 0,
    refused: 0,
    respond(pick: number): AttemptReport {
      const isFree = (requests++ + pick) % 20 < freeOutOf20 && requests < 120;
      if (!isFree && this.counted === granted) this.refused++;
      else if (!isFree) this.counted++;
      return response(isFree ? 304 : 200, { limit: granted, remaining: granted - this.counted });
    },
  };
}
