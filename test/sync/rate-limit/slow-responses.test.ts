/** Responses that take hours, as on a computer that was asleep: what they report of a window may be outdated. */
import { expect, it } from "vitest";
import { noResponse } from "../../../src/service/requests/rate-limiter.ts";
import { decideLease } from "../../../src/sync/rate-limit/leases.ts";
import { emptyWindow, type WindowState } from "../../../src/sync/rate-limit/window.ts";
import { type Lease, lease, releaseLease, renew } from "../../../src/sync/rate-limit/window-events.ts";

const hour = 3_600_000;
const start = Date.parse("2026-03-01T12:00:00Z");

/** A window without a response yet, and the leases of its requests, all of which are running. */
function sendAll(count: number): { readonly state: WindowState; readonly leases: readonly Lease[] } {
  let state = renew(emptyWindow, start);
  const leases: Lease[] = [];
  for (let sent = 0; sent < count; sent++) {
    const leased = lease(state, "a", 1);
    state = leased.state;
    leases.push(leased.lease);
  }
  return { state, leases };
}

/** @param hours after the start, as `resetHours` */
function receive(
  state: WindowState,
  given: Lease | undefined,
  {
    hours,
    status = 200,
    remaining,
    resetHours,
  }: { hours: number; status?: number; remaining: number; resetHours: number },
): WindowState {
  if (given === undefined) throw new Error("no such lease");
  const allowance = { limit: 3, remaining, resetAt: start + resetHours * hour };
  const report = { ...noResponse, status, isRefusal: status === 403, allowance };
  return releaseLease(state, { lease: given, isRoot: false, report }, start + hours * hour);
}

it("of two delayed responses with ends in seconds, the one with the earlier end still lowers the remaining count", () => {
  const { state, leases } = sendAll(2);
  const first = receive(state, leases[0], { hours: 1, remaining: 1, resetHours: 25 });
  const second = receive(first, leases[1], { hours: 1, status: 304, remaining: 0, resetHours: 24 });
  expect(second.remaining).toBe(0);
});

it("a response of the window before does not lower the remaining count", () => {
  const { state, leases } = sendAll(2);
  const first = receive(state, leases[0], { hours: 10, remaining: 2, resetHours: 34 });
  const second = receive(first, leases[1], { hours: 10, status: 304, remaining: 0, resetHours: 11 });
  expect(second.remaining).toBe(2);
});

it("a refusal that reports an end in the future holds, although its request was sent in the window before", () => {
  const { state, leases } = sendAll(2);
  const lost = releaseLease(state, { lease: leases[0] as Lease, isRoot: false, report: noResponse }, start);
  const refused = receive(lost, leases[1], { hours: 24, status: 403, remaining: 0, resetHours: 36 });
  expect(decideLease(refused, 0)).toEqual({ do: "refuse", resumeAt: start + 36 * hour });
});

it("of two ends that running requests report, the later one holds", () => {
  const { state, leases } = sendAll(3);
  const root = receive(state, leases[0], { hours: 12, status: 304, remaining: 2, resetHours: 24 });
  const next = receive(root, leases[1], { hours: 12, remaining: 1, resetHours: 36 });
  const spent = receive(next, leases[2], { hours: 12, remaining: 0, resetHours: 36 });
  expect(decideLease(renew(spent, start + 24 * hour), 0)).toEqual({
    do: "refuse",
    resumeAt: start + 36 * hour,
  });
});
