import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AllowanceReading } from "../../src/service/allowance-reading.ts";
import { type AttemptReport, noAnswer, type Reservation } from "../../src/service/reserve.ts";
import { createRunAllowance } from "../../src/sync/allowance.ts";

const start = Date.parse("2026-03-01T12:00:00Z");
const attempt = { url: "https://api.example/", conditional: false };
const tomorrow = start + 86_400_000;

function answer(status: number, reading: Partial<AllowanceReading> | null = null): AttemptReport {
  const allowance = reading && { limit: 30, remaining: null, resetAt: tomorrow, ...reading };
  return { status, allowance, retryAt: null };
}

/** Tells whether a promise is settled by now, everything that can go on having gone on. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([settled, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
}

describe("what may be asked in a run", () => {
  it("is one request, until something is known of the allowance", async () => {
    const allowance = createRunAllowance(null, () => start);
    const first = await allowance.reserve(attempt);
    const second = allowance.reserve(attempt);
    expect(await isSettled(second)).toBe(false);
    first.settle(noAnswer);
    const retried = await second;
    const third = allowance.reserve(attempt);
    expect(await isSettled(third)).toBe(false);
    retried.settle(answer(200));
    expect(await isSettled(third)).toBe(true);
  });

  it("is as many at a time as could all be counted", async () => {
    const allowance = createRunAllowance(null, () => start);
    (await allowance.reserve(attempt)).settle(answer(200, { remaining: 2 }));
    const [first] = await Promise.all([allowance.reserve(attempt), allowance.reserve(attempt)]);
    const third = allowance.reserve(attempt);
    expect(await isSettled(third)).toBe(false);
    first.settle(answer(304, { remaining: 2 }));
    expect(await isSettled(third)).toBe(true);
  });

  it("is nothing once none remain, and the refusal says when to come back", async () => {
    const allowance = createRunAllowance(null, () => start);
    (await allowance.reserve(attempt)).settle(answer(200, { remaining: 0 }));
    await expect(allowance.reserve(attempt)).rejects.toMatchObject({
      code: "allowance-spent",
      resumeAt: tomorrow,
    });
    expect(allowance.refusal).toBe("allowance");
  });

  it("is something again once the window has ended, one at first", async () => {
    let now = start;
    const allowance = createRunAllowance(null, () => now);
    (await allowance.reserve(attempt)).settle(answer(200, { remaining: 0 }));
    now = tomorrow;
    const first = await allowance.reserve(attempt);
    const second = allowance.reserve(attempt);
    expect(await isSettled(second)).toBe(false);
    first.settle(answer(200, { remaining: 29, resetAt: tomorrow + 86_400_000 }));
    expect(await isSettled(second)).toBe(true);
  });

  it("is told by the lowest number of a window, whatever the order of the answers", async () => {
    const allowance = createRunAllowance(null, () => start);
    (await allowance.reserve(attempt)).settle(answer(200, { remaining: 9 }));
    const both = await Promise.all([allowance.reserve(attempt), allowance.reserve(attempt)]);
    both[1].settle(answer(200, { remaining: 7 }));
    both[0].settle(answer(200, { remaining: 8 }));
    expect(allowance.state).toEqual({ limit: 30, remaining: 7, resetAt: tomorrow });
  });

  it("is never more than either the allowance or the budget, in any order of answers", async () => {
    const step = fc.record({
      asks: fc.nat(6),
      settles: fc.array(fc.nat(5), { maxLength: 6 }),
      isFree: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(12), fc.option(fc.nat(12)), fc.array(step), async (granted, budget, steps) => {
        const allowance = createRunAllowance(budget, () => start);
        const service = createService(granted);
        let counted = 0;
        const underWay: { reservation: Reservation; report: AttemptReport }[] = [];
        const waiting: Promise<unknown>[] = [];
        const ask = (isFree: boolean) =>
          allowance.reserve(attempt).then(
            (reservation) => {
              const report = service.answer(isFree);
              if (report.status !== 304) counted++;
              underWay.push({ reservation, report });
            },
            () => {},
          );
        for (const { asks, settles, isFree } of steps) {
          for (let n = 0; n < asks; n++) waiting.push(ask(isFree));
          await isSettled(Promise.all(waiting));
          for (const pick of settles) {
            const [settled] = underWay.splice(pick % Math.max(1, underWay.length), 1);
            settled?.reservation.settle(settled.report);
          }
        }
        expect(service.refusals).toBe(0);
        expect(counted).toBeLessThanOrEqual(budget ?? granted);
      }),
      { numRuns: 100 },
    );
  });
});

/** Grants so many counted requests, tells how many are left, and counts the requests that come when none are. */
function createService(granted: number): { refusals: number; answer(isFree: boolean): AttemptReport } {
  let remaining = granted;
  let isFirst = true;
  return {
    refusals: 0,
    answer(isFree) {
      // The front page comes first, is not counted, and tells what is left.
      if (isFirst) {
        isFirst = false;
        return answer(304, { remaining });
      }
      if (!isFree && remaining === 0) this.refusals++;
      if (!isFree) remaining--;
      return answer(isFree ? 304 : 200, { remaining });
    },
  };
}
