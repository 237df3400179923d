import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RateLimitHeaders } from "../../src/service/requests/headers.ts";
import { type AttemptReport, noResponse, type Permit } from "../../src/service/requests/rate-limiter.ts";
import type { RunBudget } from "../../src/sync/rate-limit/run-budget.ts";
import { tries } from "../support/thorough.ts";
import { makeLedgerFolder, openAllowance, rootUrl, testClock } from "./support/ledger-folder.ts";

const attempt = { url: "https://api.example/brands/" };
const start = testClock().time;
const tomorrow = start + 86_400_000;

function answer(status: number, reading: Partial<RateLimitHeaders> | null = null): AttemptReport {
  const allowance = reading && { limit: 30, remaining: null, resetAt: tomorrow, ...reading };
  return { ...noResponse, status, allowance };
}

/** Tells whether a promise is settled by now, everything that can go on having gone on. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
}

async function withAllowance(
  options: { budget?: number; reserve?: number },
  use: (allowance: RunBudget, clock: ReturnType<typeof testClock>) => Promise<void>,
): Promise<void> {
  await using folder = await makeLedgerFolder();
  const clock = testClock();
  const allowance = openAllowance({ file: folder.file, clock, ...options });
  await use(allowance, clock);
  allowance.close();
}

describe("what may be asked in a run", () => {
  it("is one request, until something is known of the allowance", () =>
    withAllowance({}, async (allowance) => {
      const first = await allowance.acquirePermit(attempt);
      const second = allowance.acquirePermit(attempt);
      expect(await isSettled(second)).toBe(false);
      first.release(noResponse);
      const retried = await second;
      const third = allowance.acquirePermit(attempt);
      expect(await isSettled(third)).toBe(false);
      retried.release(answer(200, { remaining: 20 }));
      (await third).release(answer(200, { remaining: 19 }));
    }));

  it("is as many at a time as could all be counted", () =>
    withAllowance({}, async (allowance) => {
      (await allowance.acquirePermit(attempt)).release(answer(200, { remaining: 2 }));
      const [first, second] = await Promise.all([
        allowance.acquirePermit(attempt),
        allowance.acquirePermit(attempt),
      ]);
      const third = allowance.acquirePermit(attempt);
      expect(await isSettled(third)).toBe(false);
      first.release(answer(304, { remaining: 2 }));
      (await third).release(answer(200, { remaining: 1 }));
      second.release(answer(200, { remaining: 0 }));
    }));

  it("is nothing once none remain, and the refusal says when to come back", () =>
    withAllowance({}, async (allowance) => {
      (await allowance.acquirePermit(attempt)).release(answer(200, { remaining: 0 }));
      await expect(allowance.acquirePermit(attempt)).rejects.toMatchObject({
        code: "allowance-spent",
        resumeAt: tomorrow,
      });
      expect(allowance.refusal).toBe("allowance");
      expect(allowance.counts.sent).toBe(1);
    }));

  it("is something again once the window has ended, one at first", () =>
    withAllowance({}, async (allowance, clock) => {
      (await allowance.acquirePermit(attempt)).release(answer(200, { remaining: 0 }));
      clock.time = tomorrow;
      const first = await allowance.acquirePermit(attempt);
      const second = allowance.acquirePermit(attempt);
      expect(await isSettled(second)).toBe(false);
      first.release(answer(200, { remaining: 29, resetAt: tomorrow + 86_400_000 }));
      (await second).release(noResponse);
    }));

  it("is told by the lowest number of a window, whatever the order of the answers", () =>
    withAllowance({}, async (allowance) => {
      (await allowance.acquirePermit(attempt)).release(answer(200, { remaining: 9 }));
      const both = await Promise.all([allowance.acquirePermit(attempt), allowance.acquirePermit(attempt)]);
      both[1].release(answer(200, { remaining: 7 }));
      both[0].release(answer(200, { remaining: 8 }));
      expect(allowance.state).toMatchObject({ limit: 30, remaining: 7, resetAt: tomorrow, isTold: true });
    }));

  it("leaves the reserve to others", () =>
    withAllowance({ reserve: 5 }, async (allowance) => {
      (await allowance.acquirePermit(attempt)).release(answer(200, { remaining: 6 }));
      (await allowance.acquirePermit(attempt)).release(answer(200, { remaining: 5 }));
      await expect(allowance.acquirePermit(attempt)).rejects.toMatchObject({ resumeAt: tomorrow });
      expect(allowance.refusal).toBe("allowance");
    }));

  it("is bounded by the budget, which neither a free answer nor what was never sent spends", () =>
    withAllowance({ budget: 1 }, async (allowance) => {
      (await allowance.acquirePermit({ ...attempt, url: rootUrl })).release(answer(200, { remaining: 30 }));
      (await allowance.acquirePermit(attempt)).release(answer(304, { remaining: 30 }));
      (await allowance.acquirePermit(attempt)).release({ ...noResponse, isSent: false });
      (await allowance.acquirePermit(attempt)).release(answer(200, { remaining: 29 }));
      await expect(allowance.acquirePermit(attempt)).rejects.toMatchObject({ resumeAt: null });
      expect(allowance.refusal).toBe("budget");
      expect(allowance.counts).toMatchObject({ sent: 4, counted: 1, notModified: 1 });
    }));

  it("is not waited for by who does not want it any more", () =>
    withAllowance({}, async (allowance) => {
      const first = await allowance.acquirePermit(attempt);
      const controller = new AbortController();
      const second = allowance.acquirePermit({ ...attempt, signal: controller.signal });
      controller.abort(new Error("no more"));
      first.release(answer(200, { remaining: 1 }));
      await expect(second).rejects.toThrow("no more");
      expect(allowance.state.remaining).toBe(1);
    }));
});

describe("a service that asks to wait", () => {
  const throttled = (millis: number): AttemptReport => ({
    ...answer(429, { remaining: 20 }),
    retryAt: start + millis,
  });

  it("for seconds is waited for by every request", () =>
    withAllowance({}, async (allowance, clock) => {
      (await allowance.acquirePermit(attempt)).release(throttled(60_000));
      const both = await Promise.all([allowance.acquirePermit(attempt), allowance.acquirePermit(attempt)]);
      expect(clock.time).toBeGreaterThanOrEqual(start + 60_000);
      for (const reservation of both) reservation.release(noResponse);
    }));

  it("for longer is not asked again, and the refusal says when to come back", () =>
    withAllowance({}, async (allowance) => {
      (await allowance.acquirePermit(attempt)).release(throttled(60_001));
      await expect(allowance.acquirePermit(attempt)).rejects.toMatchObject({ resumeAt: start + 60_001 });
    }));

  it("is waited for by a clock that is set back no longer than by any other", () =>
    withAllowance({}, async (allowance, clock) => {
      (await allowance.acquirePermit(attempt)).release(throttled(50_000));
      const { sleep } = clock;
      clock.time -= 366 * 86_400_000;
      clock.sleep = async (millis, signal) => {
        expect(millis).toBeLessThanOrEqual(50_000);
        await sleep.call(clock, millis, signal);
      };
      (await allowance.acquirePermit(attempt)).release(noResponse);
    }));
});

// Runs of two processes with 8 clients each, over one file that each request is written to twice.
describe("16 concurrent requests against an allowance of 100", () => {
  it("are never 101, however they interleave, through one ledger file", async () => {
    await using folder = await makeLedgerFolder();
    const clock = testClock();
    let interleaving = 0;
    await fc.assert(
      fc.asyncProperty(fc.infiniteStream(fc.nat(15)), fc.nat(20), async (picks, freeOutOf20) => {
        const origin = `https://${interleaving++}.example`;
        const runs = [1, 2].map(() => openAllowance({ file: folder.file, clock, origin }));
        const service = createService(100, freeOutOf20);
        const underWay: { reservation: Permit; report: AttemptReport }[] = [];
        let clients = 0;
        // Each client asks again and again until it is refused.
        const client = async (run: RunBudget) => {
          for (;;) {
            const reservation = await run.acquirePermit(attempt).catch(() => null);
            if (reservation === null) break;
            await new Promise<void>((settled) => {
              const settle = reservation.release.bind(reservation);
              const report = service.answer(picks.next().value ?? 0);
              underWay.push({
                reservation: {
                  release(told) {
                    settle(told);
                    settled();
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
            void client(run);
          }
        }
        while (clients > 0) {
          await new Promise((resolve) => setImmediate(resolve));
          const [next] = underWay.splice((picks.next().value ?? 0) % Math.max(1, underWay.length), 1);
          next?.reservation.release(next.report);
        }
        for (const run of runs) run.close();
        expect(service.counted).toBe(100);
        expect(service.refused).toBe(0);
      }),
      { numRuns: tries(150, 5000) },
    );
  });
});

/** Grants so many counted requests, and tells what is left. */
function createService(granted: number, freeOutOf20: number) {
  let asked = 0;
  return {
    counted: 0,
    refused: 0,
    answer(pick: number): AttemptReport {
      const isFree = (asked++ + pick) % 20 < freeOutOf20 && asked < 120;
      if (!isFree && this.counted === granted) this.refused++;
      else if (!isFree) this.counted++;
      return answer(isFree ? 304 : 200, { limit: granted, remaining: granted - this.counted });
    },
  };
}
