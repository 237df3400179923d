import { getEventListeners } from "node:events";
import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { DeadlineTimer } from "../../../src/service/transport/deadlines.ts";
import { jsonResponse, rawResponse } from "../../support/raw-server.ts";
import { failureOf, startClientRig } from "../support/client.ts";

const json = { "content-type": "application/json" };
const once = { maxRetries: 0 };
const long = 60_000;

/** Writes single bytes with pauses until the connection closes. */
function drip(socket: Socket, start: string | Buffer, byte: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(byte), 5);
  socket.on("close", () => clearInterval(timer));
}

describe("timeouts", () => {
  test.each([
    ["before its answer", () => {}, { headerTimeoutMillis: 50 }, null],
    [
      "within its headers",
      (socket: Socket) => socket.write("HTTP/1.1 200 OK\r\nx: "),
      { headerTimeoutMillis: 50 },
      null,
    ],
    [
      "before its body",
      (socket: Socket) => socket.write(rawResponse(200, { ...json, "content-length": "9" })),
      { idleTimeoutMillis: 50 },
      200,
    ],
    [
      "within its body",
      (socket: Socket) => socket.write(rawResponse(200, { ...json, "content-length": "9" }, "{")),
      { idleTimeoutMillis: 50 },
      200,
    ],
    ["before its answer", () => {}, { totalTimeoutMillis: 50 }, null],
    [
      "dripping headers",
      (socket: Socket) => drip(socket, "HTTP/1.1 200 OK\r\nx: ", "y"),
      { totalTimeoutMillis: 50 },
      null,
    ],
    [
      "dripping a body",
      (socket: Socket) => drip(socket, rawResponse(200, { ...json, connection: "close" }, "{"), " "),
      { totalTimeoutMillis: 50 },
      200,
    ],
    [
      "dripping interim answers",
      (socket: Socket) => drip(socket, "", "HTTP/1.1 103 Early\r\n\r\n"),
      { totalTimeoutMillis: 50 },
      null,
    ],
  ] as const)("%s ends the attempt (%#)", async (_name, response, limits, status) => {
    const all = { headerTimeoutMillis: long, idleTimeoutMillis: long, totalTimeoutMillis: long, ...limits };
    await using rig = await startClientRig((_, socket) => void response(socket), {
      limits: all,
      retry: once,
    });
    expect(await failureOf(rig.fetch("/"))).toMatchObject({ code: "timeout", next: "retry", status });
  });

  test("a timeout does not end other requests or the retry", async () => {
    await using rig = await startClientRig(
      ({ path, index }, socket) =>
        path === "/hangs" && index < 2 ? undefined : socket.write(jsonResponse({ path })),
      {
        limits: { totalTimeoutMillis: 50 },
      },
    );
    const fetched = await Promise.all([rig.fetch("/hangs"), rig.fetch("/works")]);
    expect(fetched.map(({ outcome }) => outcome)).toEqual(["body", "body"]);
  });

  test("time spent waiting for a socket does not count", async () => {
    const limits = { totalTimeoutMillis: 1000 };
    await using rig = await startClientRig(
      (_, socket) => void setTimeout(() => socket.write(jsonResponse({})), 120),
      { connections: 1, limits, retry: once },
    );
    const fetched = await Promise.all(Array.from({ length: 10 }, (_, index) => rig.fetch(`/${index}`)));
    expect(fetched).toHaveLength(10);
  });
});

describe("cancellation", () => {
  const reason = new Error("the user pressed Ctrl-C");

  test("an already aborted signal sends nothing", async () => {
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse({})));
    await expect(rig.fetch("/", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(rig.server.connectionCount()).toBe(0);
  });

  test("the caller's signal ends a request within its body, and one that waits for a socket", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const half = rawResponse(200, { ...json, "content-length": "9" }, "{");
    await using rig = await startClientRig(
      ({ path }, socket) => {
        if (path === "/after") socket.write(jsonResponse({}));
        else socket.write(half, () => controller.abort(reason));
      },
      { connections: 1 },
    );
    const outcomes = await Promise.allSettled([rig.fetch("/1", { signal }), rig.fetch("/2", { signal })]);
    expect(outcomes).toEqual([
      { status: "rejected", reason },
      { status: "rejected", reason },
    ]);
    await rig.fetch("/after");
    expect(rig.server.requests.map(({ path }) => path)).toEqual(["/1", "/after"]);
  });

  test("the caller's signal has no listeners left after the fetch", async () => {
    const { signal } = new AbortController();
    const listeners = new Set<unknown>();
    signal.addEventListener = (_type: string, listener: unknown) => void listeners.add(listener);
    signal.removeEventListener = (_type: string, listener: unknown) => void listeners.delete(listener);
    await using rig = await startClientRig(({ index }, socket) =>
      socket.write(index === 0 ? rawResponse(500) : jsonResponse({})),
    );
    await rig.fetch("/", { signal });
    expect(listeners.size).toBe(0);
  });

  test("the caller's signal ends a sleep with its reason", async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(long, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});

describe("timer", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const tracked = (timer: DeadlineTimer, expire: () => void) => {
    const slot = timer.add({ signal: undefined, cancel: () => {}, expire });
    return { slot, start: () => timer.start(slot) };
  };

  test("the timer never fires early, nor for finished or unstarted requests", () => {
    const timer = new DeadlineTimer(100);
    const expired: string[] = [];
    const removed = tracked(timer, () => expired.push("removed"));
    removed.start();
    tracked(timer, () => expired.push("waits for a connection"));
    vi.advanceTimersByTime(4); // within a tick: counting only whole ticks would lose the rest
    tracked(timer, () => expired.push("remaining")).start();
    timer.remove(removed.slot);
    vi.advanceTimersByTime(100);
    expect(expired).toEqual([]);
    vi.advanceTimersByTime(10);
    expect(expired).toEqual(["remaining"]);
  });

  test("a reused slot starts a new timeout", () => {
    const timer = new DeadlineTimer(100);
    const first = tracked(timer, () => {});
    first.start();
    vi.advanceTimersByTime(90);
    timer.remove(first.slot);
    const expire = vi.fn();
    const second = tracked(timer, expire);
    expect(second.slot).toBe(first.slot);
    vi.advanceTimersByTime(200);
    expect(expire).not.toHaveBeenCalled();
    second.start();
    vi.advanceTimersByTime(99);
    expect(expire).not.toHaveBeenCalled();
    vi.advanceTimersByTime(11);
    expect(expire).toHaveBeenCalledOnce();
  });

  test("the timer stops without requests and starts again", () => {
    const timer = new DeadlineTimer(100);
    const expire = vi.fn();
    for (let count = 1; count <= 2; count++) {
      const { slot, start } = tracked(timer, () => {
        expire();
        timer.remove(slot);
      });
      start();
      vi.advanceTimersByTime(200);
      expect(expire).toHaveBeenCalledTimes(count);
      expect(vi.getTimerCount()).toBe(0);
    }
  });
});

test("a signal cancels only its own requests, with one listener", () => {
  const timer = new DeadlineTimer(100);
  const [a, b] = [new AbortController(), new AbortController()];
  const listen = vi.spyOn(a.signal, "addEventListener");
  const cancelled: string[] = [];
  const add = (name: string, signal: AbortSignal | undefined) =>
    timer.add({ signal, expire: () => {}, cancel: () => cancelled.push(name) });
  const first = add("first", a.signal);
  timer.remove(add("ended", a.signal));
  const slots = [first, add("second", a.signal), add("of another", b.signal), add("of none", undefined)];
  a.abort();
  expect(cancelled).toEqual(["first", "second"]);
  expect(listen).toHaveBeenCalledOnce();
  for (const slot of slots) timer.remove(slot);
  expect([a, b].map(({ signal }) => getEventListeners(signal, "abort"))).toEqual([[], []]);
});
