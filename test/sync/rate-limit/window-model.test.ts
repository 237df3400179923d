/**
 * The window of a ledger against a service that counts by itself, over random histories: requests are leased, arrive, end,
 * get lost and die with their process in any order, and the local clock may jump.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AttemptReport, noResponse } from "../../../src/service/requests/rate-limiter.ts";
import { decideLease } from "../../../src/sync/rate-limit/leases.ts";
import { expireSession } from "../../../src/sync/rate-limit/store/crashed-sessions.ts";
import { countOpenLeases, emptyWindow, type WindowState } from "../../../src/sync/rate-limit/window.ts";
import { type Lease, lease, releaseLease, renew } from "../../../src/sync/rate-limit/window-events.ts";
import { tries } from "../../support/thorough.ts";
import { day, type Metering, type RequestSort, SimulatedService } from "../support/simulated-service.ts";

const hour = 3_600_000;

interface Sent {
  readonly lease: Lease;
  readonly sort: RequestSort;
  /** By the service's clock. */
  readonly at: number;
  /** Null until the service has received it. */
  response: ((clientNow: number) => AttemptReport) | null;
}

/** One window of a ledger, two processes that share it, and the service. */
class Simulation {
  readonly service: SimulatedService;
  state: WindowState = emptyWindow;
  running: Sent[] = [];
  #skew = 0;
  #wasWrong = false;
  /** Requests without a response. */
  lost = 0;
  #sessions = ["a1", "b1"];

  constructor(metering: Metering) {
    this.service = new SimulatedService(metering);
  }

  /** The local clock minus the service's. */
  get skew(): number {
    return this.#skew;
  }

  set skew(millis: number) {
    this.#skew = millis;
    this.#wasWrong = true;
  }

  get now(): number {
    return this.service.now + this.skew;
  }

  /** @returns whether the request was sent */
  send(sort: RequestSort, process: number): boolean {
    this.state = renew(this.state, this.now);
    const decision = decideLease(this.state, 0);
    if (decision.do === "wait") expect(countOpenLeases(this.state)).toBeGreaterThan(0);
    if (decision.do === "refuse") this.#expectResumeTime(decision.resumeAt);
    if (decision.do !== "send") return false;
    const leased = lease(this.state, this.#sessions[process] ?? "", 1);
    this.state = leased.state;
    this.running.push({ lease: leased.lease, sort, at: this.service.now, response: null });
    return true;
  }

  /** Sends a request and receives its response. */
  answer(sort: RequestSort): void {
    this.send(sort, 0);
    this.end(0, false);
  }

  arrive(pick: number): void {
    const notReceived = this.running.filter(({ response }) => response === null);
    const sent = notReceived[pick % Math.max(1, notReceived.length)];
    if (sent !== undefined) sent.response = this.service.receive(sent.sort);
  }

  /** The response of a request arrives or is lost; whether the request itself arrived is then unknown. */
  end(pick: number, isLost: boolean): void {
    const [sent] = this.running.splice(pick % Math.max(1, this.running.length), 1);
    if (sent === undefined) return;
    if (isLost) this.lost++;
    if (!isLost) sent.response ??= this.service.receive(sent.sort);
    const report = isLost || sent.response === null ? noResponse : sent.response(this.now);
    const isRoot = sent.sort === "root";
    this.state = releaseLease(this.state, { lease: sent.lease, isRoot, report }, this.now);
  }

  /** Time passes. The client does not wait longer than an hour for a response. */
  pass(millis: number): void {
    this.service.now += millis;
    // Oldest first, as they are kept.
    while (this.running[0] !== undefined && this.service.now - this.running[0].at > hour) this.end(0, true);
  }

  /** @param stillArrive whether its requests still arrive at the service */
  kill(process: number, stillArrive: boolean): void {
    const session = this.#sessions[process] ?? "";
    const dead = this.running.filter(({ lease }) => lease.session === session);
    this.lost += dead.length;
    if (stillArrive) for (const sent of dead) sent.response ??= this.service.receive(sent.sort);
    this.running = this.running.filter((sent) => !dead.includes(sent));
    if (dead.length > 0) this.state = expireSession(renew(this.state, this.now), session, this.now);
    this.#sessions = this.#sessions.with(process, `${session}+`);
  }

  /** Ends all requests, and sends more until one is refused. */
  exhaust(): void {
    for (let sent = 0; sent < 500; sent++) {
      while (this.running.length > 0) this.end(0, false);
      if (!this.send("plain", 0)) return;
    }
    throw new Error("requests never end");
  }

  #expectResumeTime(resumeAt: number | null): void {
    expect(resumeAt).not.toBeNull();
    expect(resumeAt ?? 0).toBeGreaterThan(this.now);
    expect(resumeAt ?? 0).toBeLessThanOrEqual(this.now + (this.#wasWrong ? 64 * day : day));
    // A clock that was set back may be put right before, which moves the time.
    if (this.state.setBack === null)
      expect(decideLease(renew(this.state, resumeAt ?? 0), 0).do).not.toBe("refuse");
  }
}

type Step = (simulation: Simulation) => void;
const pick = fc.nat(15);
const process = fc.nat(1);
const sort = fc.constantFrom<RequestSort>("plain", "plain", "unchanged", "root");
const send = fc.tuple(sort, process).map(
  ([sort, process]): Step =>
    (simulation) =>
      simulation.send(sort, process),
);
const arrive = pick.map(
  (pick): Step =>
    (simulation) =>
      simulation.arrive(pick),
);
const respond = pick.map(
  (pick): Step =>
    (simulation) =>
      simulation.end(pick, false),
);
const lose = pick.map(
  (pick): Step =>
    (simulation) =>
      simulation.end(pick, true),
);
const kill = fc.tuple(process, fc.boolean()).map(
  ([process, stillArrive]): Step =>
    (simulation) =>
      simulation.kill(process, stillArrive),
);
const sendSeveral = fc.tuple(fc.integer({ min: 2, max: 12 }), fc.boolean()).map(
  ([count, isConcurrent]): Step =>
    (simulation) => {
      for (let sent = 0; sent < count; sent++) {
        simulation.send("plain", 0);
        if (!isConcurrent) simulation.end(0, false);
      }
    },
);
const pass = fc.constantFrom(1000, hour, day / 2, day).map(
  (millis): Step =>
    (simulation) =>
      simulation.pass(millis),
);
const passWhenIdle = pass.map(
  (pass): Step =>
    (simulation) => {
      while (simulation.running.length > 0) simulation.end(0, false);
      pass(simulation);
    },
);
const jumps = [-366 * day, -day, -hour, hour, day, 366 * day];
const steps = (...kinds: fc.Arbitrary<Step>[]) =>
  fc.array(fc.oneof(send, send, send, sendSeveral, arrive, respond, respond, ...kinds), {
    maxLength: 80,
    size: "max",
  });

const metering = (headers: readonly Metering["headers"][]) =>
  fc.record({
    limit: fc.integer({ min: 1, max: 12 }),
    headers: fc.constantFrom(...headers),
    countsNotModified: fc.boolean(),
    countsRoot: fc.boolean(),
    reportsEnded: fc.boolean(),
  });
const withHeaders = metering(["epoch", "seconds"]);
const withoutHeaders = metering(["none"]);
const runs = { numRuns: tries(300, 20_000) };

describe("with headers", () => {
  it("a window with rate-limit headers is spent exactly, whatever the order of responses, on any day", () => {
    fc.assert(
      fc.property(withHeaders, steps(passWhenIdle), (metering, steps) => {
        const simulation = new Simulation(metering);
        for (const step of steps) step(simulation);
        simulation.exhaust();
        expect(simulation.service.refused).toBe(0);
        expect(simulation.service.remaining).toBe(0);
      }),
      runs,
    );
  });

  it("a window with rate-limit headers is not overspent when responses are lost, processes die, and it ends with running requests", () => {
    fc.assert(
      fc.property(withHeaders, steps(lose, kill, pass), (metering, steps) => {
        const simulation = new Simulation(metering);
        for (const step of steps) step(simulation);
        simulation.exhaust();
        // If the only responses were lost, the next one may be a refusal.
        expect(simulation.service.refused).toBeLessThanOrEqual(simulation.lost);
        expect(simulation.service.maxRefusedInOneWindow).toBeLessThanOrEqual(1);
      }),
      runs,
    );
  });

  it("a window with rate-limit headers leaves at most the lost requests unspent when responses are lost and processes die", () => {
    fc.assert(
      fc.property(withHeaders, steps(lose, kill), (metering, steps) => {
        const simulation = new Simulation(metering);
        simulation.send("plain", 0);
        simulation.end(0, false);
        for (const step of steps) step(simulation);
        simulation.exhaust();
        // After the first reading, it is known what lost requests may have spent.
        expect(simulation.service.refused).toBe(0);
        expect(simulation.service.remaining).toBeLessThanOrEqual(simulation.lost);
        // The next day starts anew.
        simulation.service.now += 2 * day;
        simulation.exhaust();
        expect(simulation.service.remaining).toBe(0);
      }),
      runs,
    );
  });

  it("a window with rate-limit headers costs at most one refusal for each jump of the local clock", () => {
    const jump = fc.constantFrom(...jumps).map(
      (millis): Step =>
        (simulation) => {
          simulation.skew += millis;
        },
    );
    fc.assert(
      fc.property(withHeaders, steps(jump, pass, lose, kill), (metering, steps) => {
        const simulation = new Simulation(metering);
        let changes = 0;
        for (const step of steps) {
          const before = [simulation.now, simulation.service.now];
          step(simulation);
          if (before[0] !== simulation.now || before[1] !== simulation.service.now) changes++;
        }
        simulation.exhaust();
        expect(simulation.service.refused).toBeLessThanOrEqual(changes + simulation.lost);
      }),
      runs,
    );
  });

  const weeks = fc.integer({ min: 2 * hour, max: 400 * day });

  it("a spent window stays spent while the clock is set back, also repeatedly, and when it is right again", () => {
    const anyHeaders = metering(["epoch", "seconds", "none"]);
    const setBacks = fc.array(fc.tuple(weeks, fc.nat(hour)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(anyHeaders, setBacks, (metering, setBacks) => {
        const simulation = new Simulation(metering);
        simulation.exhaust();
        const { refused } = simulation.service;
        for (const [millis, passed] of setBacks) {
          simulation.skew -= millis;
          expect(simulation.send("plain", 0)).toBe(false);
          simulation.pass(passed);
          expect(simulation.send("plain", 0)).toBe(false);
        }
        simulation.skew = 0;
        expect(simulation.send("plain", 0)).toBe(false);
        simulation.pass(2 * day);
        simulation.exhaust();
        expect(simulation.service.remaining).toBe(0);
        expect(simulation.service.refused).toBeLessThanOrEqual(2 * refused);
      }),
      runs,
    );
  });

  it("a clock that was wrong by any time blocks requests for little more than two days at most", () => {
    const anyHeaders = metering(["epoch", "seconds", "none"]);
    const skews = fc.array(fc.tuple(fc.boolean(), weeks), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(anyHeaders, skews, (metering, skews) => {
        const simulation = new Simulation(metering);
        for (const [isAhead, millis] of skews) {
          simulation.skew = isAhead ? millis : -millis;
          simulation.exhaust();
        }
        simulation.skew = 0;
        const sent = [1, 2, 3, 4, 5].map(() => {
          simulation.pass(day / 2 + 1);
          return simulation.send("plain", 0);
        });
        expect(sent).toContain(true);
      }),
      runs,
    );
  });

  it("a window with rate-limit headers always has leases or a time to resume, whatever the headers say", () => {
    const number = fc.option(fc.oneof(fc.nat(12), fc.nat(1e15)), { nil: null });
    const reset = fc.option(fc.integer({ min: -400, max: 36_500 }), { nil: null });
    const oddResponse = fc.record({
      status: fc.constantFrom(null, 200, 304, 403, 404, 429, 500),
      reading: fc.option(fc.record({ limit: number, remaining: number, reset }), { nil: null }),
      retry: fc.option(fc.nat(366), { nil: null }),
      isRefusal: fc.boolean(),
      isRoot: fc.boolean(),
      jump: fc.constantFrom(0, 0, 0, ...jumps),
      running: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(oddResponse, { maxLength: 60, size: "max" }), (responses) => {
        let now = Date.parse("2026-03-01T12:00:00Z");
        let state = emptyWindow;
        const open: Lease[] = [];
        for (const { status, reading, retry, isRefusal, isRoot, jump, running } of responses) {
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
          while (open.length > running) {
            const released = open.shift();
            if (released === undefined) break;
            const allowance = reading && {
              ...reading,
              resetAt: reading.reset && now + reading.reset * day,
            };
            const retryAt = retry && now + retry * day;
            const report = { status, allowance, retryAt, isRefusal, isSent: true, isTried: true };
            state = releaseLease(state, { lease: released, isRoot, report }, now);
            expect(state.remaining ?? 0).toBeGreaterThanOrEqual(0);
          }
          expect(countOpenLeases(state)).toBe(open.length);
        }
      }),
      runs,
    );
  });
});

describe("end of a window", () => {
  it("a response that arrives after the end of its window does not allow several requests at once", () => {
    const simulation = new Simulation({
      limit: 5,
      headers: "epoch",
      countsNotModified: false,
      countsRoot: false,
    });
    simulation.answer("plain");
    simulation.send("plain", 0);
    for (let sent = 0; sent < 3; sent++) {
      simulation.send("plain", 0);
      simulation.end(1, false);
    }
    simulation.skew += day;
    simulation.end(0, false);
    expect([simulation.send("plain", 0), simulation.send("plain", 0)]).toEqual([true, false]);
  });

  it.each([
    ["last", 1],
    ["first", 0],
  ])(
    "a window that ends with running requests is followed by a window that is spent exactly when its last response arrives %s",
    (_order, first) => {
      const simulation = new Simulation({
        limit: 3,
        headers: "epoch",
        countsNotModified: false,
        countsRoot: false,
      });
      for (const sort of ["plain", "plain"] as const) {
        simulation.send(sort, 0);
        simulation.end(0, false);
        simulation.service.now += 10_000;
      }
      simulation.send("plain", 0);
      simulation.arrive(0);
      // The last request of the old window is counted, and its response is still missing.
      simulation.service.now += day;
      simulation.send("plain", 1);
      simulation.arrive(0);
      simulation.end(first, false);
      simulation.end(0, false);
      simulation.exhaust();
      expect(simulation.service.remaining).toBe(0);
      expect(simulation.service.refused).toBe(0);
    },
  );
});

describe("without headers", () => {
  it("a window without rate-limit headers is spent exactly, at the cost of at most one refusal", () => {
    fc.assert(
      fc.property(withoutHeaders, steps(passWhenIdle), (metering, steps) => {
        const simulation = new Simulation(metering);
        for (const step of steps) step(simulation);
        simulation.exhaust();
        expect(simulation.service.maxRefusedInOneWindow).toBeLessThanOrEqual(maxRefusals(metering));
        simulation.service.now += 2 * day;
        simulation.exhaust();
        expect(simulation.service.remaining).toBe(0);
      }),
      runs,
    );
  });

  it("a window without rate-limit headers costs at most one refusal also when responses are lost and processes die", () => {
    fc.assert(
      fc.property(withoutHeaders, steps(passWhenIdle, lose, kill), (metering, steps) => {
        const simulation = new Simulation(metering);
        for (const step of steps) step(simulation);
        simulation.exhaust();
        expect(simulation.service.maxRefusedInOneWindow).toBeLessThanOrEqual(maxRefusals(metering));
      }),
      runs,
    );
  });

  it("a window without rate-limit headers shows within a few days what a 304 costs, whatever happened before", () => {
    const metering = fc.record({
      limit: fc.integer({ min: 6, max: 12 }),
      headers: fc.constant("none" as const),
      countsNotModified: fc.boolean(),
      countsRoot: fc.boolean(),
    });
    fc.assert(
      fc.property(metering, steps(passWhenIdle, lose, kill), (metering, steps) => {
        const simulation = new Simulation(metering);
        for (const step of steps) step(simulation);
        while (simulation.running.length > 0) simulation.end(0, false);
        for (let days = 0; days < 6; days++) {
          simulation.service.now += 2 * day;
          // Without checks on one day, with some among the fetches on the next.
          for (const sort of days % 2 === 0 ? [] : mixed) {
            simulation.send(sort, 0);
            simulation.end(0, false);
          }
          simulation.exhaust();
        }
        expect(simulation.state.isFree304).toBe(!metering.countsNotModified);
      }),
      runs,
    );
  });

  it("a window without rate-limit headers is not ended by a late refusal of the previous window", () => {
    const simulation = new Simulation({
      limit: 3,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    simulation.exhaust();
    simulation.service.now += day;
    for (let sent = 0; sent < 3; sent++) {
      simulation.send("plain", 0);
      simulation.end(0, false);
    }
    simulation.send("plain", 0);
    simulation.arrive(0);
    // The response, a refusal, arrives after the end of the window.
    simulation.service.now += day;
    simulation.send("plain", 1);
    simulation.end(0, false);
    simulation.exhaust();
    expect(simulation.service.remaining).toBe(0);
  });

  it("a window without rate-limit headers that overlaps two of the service's is refused once in the second one", () => {
    const simulation = new Simulation({
      limit: 2,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    // Free, so the service's window begins half a day later than the ledger's may.
    for (const sort of ["unchanged", "plain", "plain"] as const) {
      simulation.answer(sort);
      simulation.service.now += day / 2;
    }
    for (let sent = 0; sent < 3; sent++) simulation.answer("plain");
    expect(simulation.service.maxRefusedInOneWindow).toBe(1);
    simulation.service.now += day / 2;
    simulation.exhaust();
    expect(simulation.service.maxRefusedInOneWindow).toBe(1);
  });

  it("a window without rate-limit headers begins with its first counted request once 304s prove to be free", () => {
    const simulation = new Simulation({
      limit: 2,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    simulation.exhaust();
    simulation.service.now += day;
    // Free, as the second 200 after it shows: the service's window begins half a day later.
    simulation.answer("unchanged");
    simulation.service.now += day / 2;
    for (let sent = 0; sent < 2; sent++) simulation.answer("plain");
    expect(simulation.state.isFree304).toBe(true);
    simulation.service.now += day / 2;
    simulation.answer("unchanged");
    for (let sent = 0; sent < 2; sent++) simulation.send("plain", 0);
    simulation.exhaust();
    expect(simulation.service.maxRefusedInOneWindow).toBe(1);
    simulation.service.now += day / 2;
    simulation.exhaust();
    expect(simulation.service.remaining).toBe(0);
  });

  it("a window without rate-limit headers that a lost request may have begun is refused once in the next one", () => {
    const simulation = new Simulation({
      limit: 2,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    simulation.send("plain", 0);
    simulation.kill(0, true);
    for (let sent = 0; sent < 2; sent++) {
      simulation.service.now += day / 2;
      simulation.send("plain", 0);
      simulation.end(0, false);
    }
    // The service's second window has begun with the last request.
    simulation.exhaust();
    expect(simulation.service.maxRefusedInOneWindow).toBe(1);
    simulation.service.now += day / 2;
    simulation.exhaust();
    expect(simulation.service.maxRefusedInOneWindow).toBe(1);
  });

  it("a window without rate-limit headers that one of two lost requests began is refused once in the next one", () => {
    const simulation = new Simulation({
      limit: 2,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    // The first one never arrives.
    for (const doesArrive of [false, true]) {
      simulation.send("plain", 0);
      if (doesArrive) simulation.arrive(0);
      simulation.end(0, true);
      simulation.service.now += day / 2;
    }
    simulation.send("plain", 0);
    simulation.end(0, false);
    simulation.service.now += day / 2;
    for (const wait of [day / 2, 0]) {
      simulation.exhaust();
      expect(simulation.service.maxRefusedInOneWindow).toBe(1);
      simulation.service.now += wait;
    }
  });

  it.each<{ sorts: RequestSort[] }>([
    { sorts: ["root", "plain"] },
    // The ledger's window ends early, since the 304 may have begun it.
    { sorts: ["unchanged", "root", "plain"] },
  ])(
    "a window without rate-limit headers is refused once after one that a root began unnoticed ($sorts)",
    ({ sorts }) => {
      const simulation = new Simulation({
        limit: 2,
        headers: "none",
        countsNotModified: false,
        countsRoot: true,
      });
      for (const sort of sorts) {
        simulation.send(sort, 0);
        simulation.end(0, false);
        simulation.service.now += day / 2;
      }
      // The service's second window begins with the next request.
      for (const wait of [day / 2, day / 2]) {
        simulation.exhaust();
        expect(simulation.service.maxRefusedInOneWindow).toBe(1);
        simulation.service.now += wait;
      }
      for (const _ of "123") simulation.send("plain", 0);
      simulation.exhaust();
      expect(simulation.service.remaining).toBe(0);
      expect(simulation.service.maxRefusedInOneWindow).toBe(1);
    },
  );

  it("a window without rate-limit headers allows one request at a time while an earlier window may last", () => {
    const simulation = new Simulation({
      limit: 5,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    simulation.exhaust();
    simulation.service.now += day;
    // Free, so the service's window begins half a day later than the ledger's may.
    simulation.answer("unchanged");
    simulation.service.now += day / 2;
    for (let sent = 0; sent < 4; sent++) simulation.answer("plain");
    simulation.service.now += day / 2;
    simulation.answer("plain");
    expect([1, 2, 3].map(() => simulation.send("plain", 0))).toEqual([true, false, false]);
    simulation.exhaust();
    expect(simulation.service.maxRefusedInOneWindow).toBe(1);
  });

  it("a window without rate-limit headers that overlaps two of the service's shows no limit", () => {
    const simulation = new Simulation({
      limit: 5,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    for (const sort of ["unchanged", "plain"] as const) {
      simulation.answer(sort);
      simulation.service.now += day / 2;
    }
    for (let sent = 0; sent < 4; sent++) simulation.answer("plain");
    simulation.service.now += day / 2;
    simulation.exhaust();
    simulation.service.now += day;
    simulation.answer("plain");
    for (let sent = 0; sent < 8; sent++) simulation.send("plain", 0);
    simulation.exhaust();
    expect(simulation.service.maxRefusedInOneWindow).toBe(1);
  });

  it("a window without rate-limit headers allows several requests at a time, up to the grant of the previous window", () => {
    const simulation = new Simulation({
      limit: 5,
      headers: "none",
      countsNotModified: false,
      countsRoot: false,
    });
    simulation.exhaust();
    expect(simulation.service.refused).toBe(1);
    simulation.service.now += day;
    simulation.send("plain", 0);
    simulation.end(0, false);
    const areSent = [1, 2, 3, 4, 5].map(() => simulation.send("plain", 0));
    expect(areSent).toEqual([true, true, true, true, false]);
    simulation.exhaust();
    expect(simulation.service.refused).toBe(2);
  });
});

const mixed = ["root", "plain", "unchanged", "unchanged", "unchanged", "unchanged"] as const;

/**
 * A counted root may begin a window unnoticed. The ledger's window then may end first, and the next one be refused again.
 * Nothing was counted in that one before, so it lasts a day from its refusal, and so longer than the service's. Further
 * refusals can only be of requests that were running together with the second one.
 */
function maxRefusals({ countsRoot }: Metering): number {
  return countsRoot ? 2 : 1;
}
