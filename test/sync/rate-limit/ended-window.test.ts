/** A service whose free responses report the last window until a counted request begins the next one. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../../src/platform/clock.ts";
import { type AttemptReport, noResponse } from "../../../src/service/requests/rate-limiter.ts";
import { decideLease } from "../../../src/sync/rate-limit/leases.ts";
import { emptyWindow, type WindowState } from "../../../src/sync/rate-limit/window.ts";
import { lease, recordLimits, releaseLease, renew } from "../../../src/sync/rate-limit/window-events.ts";
import { sync } from "../../../src/sync/sync.ts";
import { jsonResponse, startRawServer } from "../../support/raw-server.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

const hour = 3_600_000;
const day = 24 * hour;
const start = Date.parse("2026-03-01T12:00:00Z");
const ended = { limit: 30, remaining: 0, resetAt: start - hour };

function receive(before: WindowState, report: Partial<AttemptReport>, isRoot = false): WindowState {
  const leased = lease(renew(before, start), "a", 1);
  const release = { lease: leased.lease, isRoot, report: { ...noResponse, status: 200, ...report } };
  return releaseLease(leased.state, release, start);
}

describe("a reading whose window has ended", () => {
  it("the root or a 304 that reports it leaves one request at a time", () => {
    const oneAtATime = { do: "send", room: 1 };
    const afterRoot = receive(emptyWindow, { allowance: ended }, true);
    expect(decideLease(afterRoot, 0)).toEqual(oneAtATime);
    const afterCheck = receive(afterRoot, { status: 304, allowance: ended });
    expect(decideLease(afterCheck, 0)).toEqual(oneAtATime);
    const afterBody = recordLimits(afterCheck, ended, afterCheck.seq, start);
    expect(decideLease(afterBody, 0)).toEqual(oneAtATime);
  });

  it("a counted response that reports it ends the run, for at most a day", () => {
    const state = receive(emptyWindow, { allowance: ended });
    expect(decideLease(state, 0)).toEqual({ do: "refuse", resumeAt: start + day });
  });

  it("a 304 that reports it does not change the remaining count of the current window", () => {
    const current = receive(emptyWindow, { allowance: { ...ended, remaining: 20, resetAt: start + hour } });
    expect(receive(current, { status: 304, allowance: ended }).remaining).toBe(20);
  });
});

it.each(["epoch", "seconds"])(
  "a service that reports ended windows is spent every day, without a refusal (reset: %s)",
  async (style) => {
    const limit = 5;
    let now = start;
    let window = { spent: 0, endsAt: 0 };
    const refused: string[] = [];
    const headers = () => ({
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(limit - window.spent),
      "x-ratelimit-reset": String(
        style === "epoch" ? window.endsAt / 1000 : Math.max(0, (window.endsAt - now) / 1000),
      ),
    });
    await using server = await startRawServer(({ path }, socket) => {
      const url = (to: string) => `${server.origin}${to}`;
      const collection = Array.from({ length: 20 }, (_, index) => ({
        service_url: `http://public.example/${index}`,
        href: url(`/brands/${index}/`),
        name: `Brand ${index}`,
      }));
      if (path === "/") {
        const root = {
          self: url("/"),
          rel: "resource",
          spec: null,
          links: { brands: url("/brands/") },
          meta: {},
        };
        socket.write(jsonResponse(root, headers()));
        return;
      }
      if (now >= window.endsAt) window = { spent: 0, endsAt: now + day };
      if (window.spent === limit) {
        refused.push(path);
        socket.write(jsonResponse({ message: "rate limit exceeded" }, headers(), 403));
        return;
      }
      window.spent++;
      const meta = { page_total: null, paginated: false, next: null, current: null, prev: null };
      const envelope =
        path === "/brands/"
          ? { rel: "collection", links: {}, meta: { ...meta, collection_total: 20 }, collection }
          : { rel: "entity", links: {}, meta: { collection: url("/brands/") }, body: { name: path } };
      socket.write(jsonResponse({ self: url(path), spec: null, ...envelope }, headers()));
    });
    await using folder = await temporaryFolder();
    const clock: Clock = {
      now: () => now,
      random: Math.random,
      sleep: async (_millis, signal) => signal?.throwIfAborted(),
    };
    const file = join(folder.path, "catalogue.sqlite");
    const run = () =>
      sync({ file, baseUrl: `${server.origin}/`, serviceName: "service", clock, depth: "brands" });
    for (let days = 0; days < 3; days++) {
      expect(await run()).toMatchObject({ stopped: "allowance", allowance: { limit, remaining: 0 } });
      expect(window.spent).toBe(limit);
      now += day + hour;
    }
    expect(server.requests).toHaveLength(3 * (limit + 1));
    expect(refused).toEqual([]);
  },
);
