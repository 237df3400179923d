/**
 * The window against a service that counts by itself: whatever the order in which requests are leased, arrive, are
 * answered, get lost or die with their process, and whatever the local clock does meanwhile.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AttemptReport, noResponse } from "../../../src/service/requests/rate-limiter.ts";
import { decideLease } from "../../../src/sync/rate-limit/leases.ts";
import { emptyWindow, openLeases, type WindowState } from "../../../src/sync/rate-limit/window.ts";
import {
  expireSession,
  type Lease,
  lease,
  renew,
  settle,
} from "../../../src/sync/rate-limit/window-events.ts";
import { tries } from "../../support/thorough.ts";
import { day, type Metering, type RequestSort, SimulatedService } from "../support/simulated-service.ts";

interface Sent {
  readonly lease: Lease;
  readonly sort: RequestSort;
  /** Null until the service has taken it. */
  answer: ((clientNow: number) => AttemptReport) | null;
}

/** The ledger's one window, the processes that share it, and the service. */
class World {
  readonly service: SimulatedService;
  state: WindowState = emptyWindow;
  underWay: Sent[] = [];
  /** Of the local clock against the service's. */
  skew = 0;
  /** Requests without an answer. */
  lost = 0;
  #sessions = ["a1", "b1"];

  constructor(metering: Metering) {
    this.service = new SimulatedService(metering);
  }

  get now(): number {
    return this.service.now + this.skew;
  }

  /** @returns whether it was sent */
  ask(sort: RequestSort, process: number): boolean {
    this.state = renew(this.state, this.now);
    const decision = decideLease(this.state, 0);
    if (decision.do === "wait") expect(openLeases(this.state)).toBeGreaterThan(0);
    if (decision.do === "refuse") this.#expectAnEnd(decision.resumeAt);
    if (decision.do !== "send") return false;
    const leased = lease(this.state, this.#sessions[process] ?? "", 1);
    this.state = leased.state;
    this.underWay.push({ lease: leased.lease, sort, answer: null });
    return true;
  }

  arrive(pick: number): void {
    const waiting = this.underWay.filter(({ answer }) => answer === null);
    const sent = waiting[pick % Math.max(1, waiting.length)];
    if (sent !== undefined) sent.answer = this.service.answer(sent.sort);
  }

  /** An answer comes, or is lost: then nobody knows whether the request has arrived. */
  end(pick: number, isLost: boolean): void {
    const [sent] = this.underWay.splice(pick % Math.max(1, this.underWay.length), 1);
    if (sent === undefined) return;
    if (isLost) this.lost++;
    if (!isLost) sent.answer ??= this.service.answer(sent.sort);
    const report = isLost || sent.answer === null ? noResponse : sent.answer(this.now);
    const isRoot = sent.sort === "root";
    this.state = settle(this.state, { lease: sent.lease, isRoot, report }, this.now);
  }

  /** @param arrives whether what it had sent still arrives */
  kill(process: number, arrives: boolean): void {
    const session = this.#sessions[process] ?? "";
    const dead = this.underWay.filter(({ lease }) => lease.session === session);
    this.lost += dead.length;
    if (arrives) for (const sent of dead) sent.answer ??= this.service.answer(sent.sort);
    this.underWay = this.underWay.filter((sent) => !dead.includes(sent));
    if (dead.length > 0) this.state = expireSession(renew(this.state, this.now), session);
    this.#sessions = this.#sessions.with(process, `${session}+`);
  }

  /** Everything is answered, and there is more to ask for until none may be asked. */
  exhaust(): void {
    for (let asked = 0; asked < 500; asked++) {
      while (this.underWay.length > 0) this.end(0, false);
      if (!this.ask("plain", 0)) return;
    }
    throw new Error("it asks without end");
  }

  #expectAnEnd(resumeAt: number | null): void {
    expect(resumeAt).not.toBeNull();
    expect(resumeAt ?? 0).toBeGreaterThan(this.now);
    expect(resumeAt ?? 0).toBeLessThanOrEqual(this.now + (this.skew === 0 ? day : 32 * day));
    expect(decideLease(renew(this.state, resumeAt ?? 0), 0).do).not.toBe("refuse");
  }
}

type Step = (world: World) => void;
const pick = fc.nat(15);
const process = fc.nat(1);
const sort = fc.constantFrom<RequestSort>("plain", "plain", "unchanged", "root");
const ask = fc.tuple(sort, process).map(
  ([sort, process]): Step =>
    (world) =>
      world.ask(sort, process),
);
const arrive = pick.map(
  (pick): Step =>
    (world) =>
      world.arrive(pick),
);
const answer = pick.map(
  (pick): Step =>
    (world) =>
      world.end(pick, false),
);
const lose = pick.map(
  (pick): Step =>
    (world) =>
      world.end(pick, true),
);
const kill = fc.tuple(process, fc.boolean()).map(
  ([process, arrives]): Step =>
    (world) =>
      world.kill(process, arrives),
);
const pass = fc.constantFrom(1000, 3_600_000, day / 2, day).map(
  (millis): Step =>
    (world) => {
      world.service.now += millis;
    },
);
const passWhenQuiet = pass.map(
  (pass): Step =>
    (world) => {
      while (world.underWay.length > 0) world.end(0, false);
      pass(world);
    },
);
const jumps = [-366 * day, -day, -3_600_000, 3_600_000, day, 366 * day];
const steps = (...kinds: fc.Arbitrary<Step>[]) =>
  fc.array(fc.oneof(ask, ask, ask, arrive, answer, answer, ...kinds), { maxLength: 80, size: "max" });

const metering = (tells: readonly Metering["tells"][]) =>
  fc.record({
    limit: fc.integer({ min: 1, max: 12 }),
    tells: fc.constantFrom(...tells),
    countsNotModified: fc.boolean(),
    countsRoot: fc.boolean(),
  });
const told = metering(["epoch", "seconds"]);
const untold = metering(["nothing"]);
const runs = { numRuns: tries(600, 20_000) };

describe("a window that is told of", () => {
  it("is never overspent and never wasted, whatever overtakes what, and on any day", () => {
    fc.assert(
      fc.property(told, steps(passWhenQuiet), (metering, steps) => {
        const world = new World(metering);
        for (const step of steps) step(world);
        world.exhaust();
        expect(world.service.refused).toBe(0);
        expect(world.service.remaining).toBe(0);
      }),
      runs,
    );
  });

  it("is never overspent when answers are lost, processes die, and it ends with requests under way", () => {
    fc.assert(
      fc.property(told, steps(lose, kill, pass), (metering, steps) => {
        const world = new World(metering);
        for (const step of steps) step(world);
        world.exhaust();
        // Where the only answers got lost, the next one may be a refusal.
        expect(world.service.refused).toBeLessThanOrEqual(world.lost);
        expect(world.service.mostRefusedInOneWindow).toBeLessThanOrEqual(1);
      }),
      runs,
    );
  });

  it("loses no more than what was lost when answers are lost and processes die", () => {
    fc.assert(
      fc.property(told, steps(lose, kill), (metering, steps) => {
        const world = new World(metering);
        world.ask("plain", 0);
        world.end(0, false);
        for (const step of steps) step(world);
        world.exhaust();
        // From the first reading on it is known what the lost ones may have spent.
        expect(world.service.refused).toBe(0);
        expect(world.service.remaining).toBeLessThanOrEqual(world.lost);
        // By the next day all of it is forgotten.
        world.service.now += 2 * day;
        world.exhaust();
        expect(world.service.remaining).toBe(0);
      }),
      runs,
    );
  });

  it("costs few refusals when the local clock jumps: one for each change of time that it cannot tell", () => {
    const jump = fc.constantFrom(...jumps).map(
      (millis): Step =>
        (world) => {
          world.skew += millis;
        },
    );
    fc.assert(
      fc.property(told, steps(jump, pass, lose, kill), (metering, steps) => {
        const world = new World(metering);
        let changes = 0;
        for (const step of steps) {
          const before = [world.now, world.service.now];
          step(world);
          if (before[0] !== world.now || before[1] !== world.service.now) changes++;
        }
        world.exhaust();
        expect(world.service.refused).toBeLessThanOrEqual(changes + world.lost);
      }),
      runs,
    );
  });

  it("never hangs and never ends nowhere, whatever nonsense is told", () => {
    const number = fc.option(fc.oneof(fc.nat(12), fc.nat(1e15)), { nil: null });
    const reset = fc.option(fc.integer({ min: -400, max: 36_500 }), { nil: null });
    const nonsense = fc.record({
      status: fc.constantFrom(null, 200, 304, 403, 404, 429, 500),
      reading: fc.option(fc.record({ limit: number, remaining: number, reset }), { nil: null }),
      retry: fc.option(fc.nat(366), { nil: null }),
      isRefusal: fc.boolean(),
      isRoot: fc.boolean(),
      jump: fc.constantFrom(0, 0, 0, ...jumps),
      stays: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(nonsense, { maxLength: 60, size: "max" }), (answers) => {
        let now = Date.parse("2026-03-01T12:00:00Z");
        let state = emptyWindow;
        const open: Lease[] = [];
        for (const { status, reading, retry, isRefusal, isRoot, jump, stays } of answers) {
          now += jump;
          state = renew(state, now);
          const decision = decideLease(state, 0);
          if (decision.do === "send") {
            const leased = lease(state, "a1", 1);
            state = leased.state;
            open.push(leased.lease);
          } else if (decision.do === "wait") expect(open.length).toBeGreaterThan(0);
          else {
            const until = decision.do === "pause" ? decision.until : (decision.resumeAt ?? Number.NaN);
            expect(until).toBeGreaterThan(now);
            expect(until).toBeLessThanOrEqual(now + 366 * day);
            now = until;
          }
          while (open.length > stays) {
            const settled = open.shift();
            if (settled === undefined) break;
            const allowance = reading && {
              ...reading,
              resetAt: reading.reset && now + reading.reset * day,
            };
            const retryAt = retry && now + retry * day;
            const report = { status, allowance, retryAt, isRefusal, isSent: true, isTried: true };
            state = settle(state, { lease: settled, isRoot, report }, now);
            expect(state.remaining ?? 0).toBeGreaterThanOrEqual(0);
          }
          expect(openLeases(state)).toBe(open.length);
        }
      }),
      runs,
    );
  });
});

describe("a window that ends with requests under way", () => {
  it.each([
    ["last", 1],
    ["first", 0],
  ])("goes on with what the new one grants when the old one's answer comes %s", (_order, first) => {
    const world = new World({ limit: 3, tells: "epoch", countsNotModified: false, countsRoot: false });
    for (const sort of ["plain", "plain"] as const) {
      world.ask(sort, 0);
      world.end(0, false);
      world.service.now += 10_000;
    }
    world.ask("plain", 0);
    world.arrive(0);
    // The last one of the old window is spent, and its answer still to come.
    world.service.now += day;
    world.ask("plain", 1);
    world.arrive(0);
    world.end(first, false);
    world.end(0, false);
    world.exhaust();
    expect(world.service.remaining).toBe(0);
    expect(world.service.refused).toBe(0);
  });
});

describe("a window that is not told of", () => {
  it("is found out by one refusal at most in each, and never wasted", () => {
    fc.assert(
      fc.property(untold, steps(passWhenQuiet), (metering, steps) => {
        const world = new World(metering);
        for (const step of steps) step(world);
        world.exhaust();
        expect(world.service.mostRefusedInOneWindow).toBeLessThanOrEqual(mostRefusals(metering));
        world.service.now += 2 * day;
        world.exhaust();
        expect(world.service.remaining).toBe(0);
      }),
      runs,
    );
  });

  it("costs one refusal at most in each also when answers are lost and processes die", () => {
    fc.assert(
      fc.property(untold, steps(passWhenQuiet, lose, kill), (metering, steps) => {
        const world = new World(metering);
        for (const step of steps) step(world);
        world.exhaust();
        expect(world.service.mostRefusedInOneWindow).toBeLessThanOrEqual(mostRefusals(metering));
      }),
      runs,
    );
  });

  it("shows within a few days of work what a 304 costs, whatever was before", () => {
    const metering = fc.record({
      limit: fc.integer({ min: 6, max: 12 }),
      tells: fc.constant("nothing" as const),
      countsNotModified: fc.boolean(),
      countsRoot: fc.boolean(),
    });
    fc.assert(
      fc.property(metering, steps(passWhenQuiet, lose, kill), (metering, steps) => {
        const world = new World(metering);
        for (const step of steps) step(world);
        while (world.underWay.length > 0) world.end(0, false);
        for (let days = 0; days < 6; days++) {
          world.service.now += 2 * day;
          // On one day nothing is checked, on the next one a few resources among new ones.
          for (const sort of days % 2 === 0 ? [] : mixed) {
            world.ask(sort, 0);
            world.end(0, false);
          }
          world.exhaust();
        }
        expect(world.state.isFree304).toBe(!metering.countsNotModified);
      }),
      runs,
    );
  });

  it("is not ended by a refusal that was about the one before", () => {
    const world = new World({ limit: 3, tells: "nothing", countsNotModified: false, countsRoot: false });
    world.exhaust();
    world.service.now += day;
    for (let asked = 0; asked < 3; asked++) {
      world.ask("plain", 0);
      world.end(0, false);
    }
    world.ask("plain", 0);
    world.arrive(0);
    // The answer, a refusal, comes when the window is over.
    world.service.now += day;
    world.ask("plain", 1);
    world.end(0, false);
    world.exhaust();
    expect(world.service.remaining).toBe(0);
  });

  it("is asked for several at a time up to what the one before has granted", () => {
    const world = new World({ limit: 5, tells: "nothing", countsNotModified: false, countsRoot: false });
    world.exhaust();
    expect(world.service.refused).toBe(1);
    world.service.now += day;
    world.ask("plain", 0);
    world.end(0, false);
    const together = [1, 2, 3, 4, 5].map(() => world.ask("plain", 0));
    expect(together).toEqual([true, true, true, true, false]);
    world.exhaust();
    expect(world.service.refused).toBe(2);
  });
});

const mixed = ["root", "plain", "unchanged", "unchanged", "unchanged", "unchanged"] as const;

/** A window may begin with what is counted but was thought free: then nobody knows when it did, and two overlap. */
function mostRefusals({ countsRoot }: Metering): number {
  return countsRoot ? 2 : 1;
}
