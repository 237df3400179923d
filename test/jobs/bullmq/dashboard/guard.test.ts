import { describe, expect, it } from "vitest";
import { findRefusal } from "../../../../jobs/bullmq/dashboard/guard.ts";

const ask = (host: string, { method = "GET", path = "/", origin = "" } = {}) =>
  new Request(`http://x${path}`, { method, headers: { host, ...(origin && { origin }) } });

describe.each([
  {
    listens: "127.0.0.1",
    known: ["127.0.0.1:9400", "localhost:9400", "localhost", "[::1]:9400", "[::ffff:127.0.0.1]"],
  },
  { listens: "10.0.0.5", known: ["10.0.0.5:9400", "localhost:9400"] },
  { listens: "Dashboard", known: ["dashboard:9400", "DASHBOARD:9400"] },
  { listens: "0.0.0.0", known: ["10.1.2.3:9400", "[fe80::1]:9400", "localhost:9400"] },
])("a dashboard at $listens", ({ listens, known }) => {
  const options = { host: listens, allowsActions: false };

  it.each(known)("answers to %s", (host) => {
    expect(findRefusal(ask(host), options)).toBeNull();
  });

  it.each(["evil.example:9400", "localhost.evil.example", "127.0.0.1.evil.example", "", "a b", "evil@x"])(
    "does not answer to the name %j, which may be anybody's",
    (host) => {
      expect(findRefusal(ask(host), options)).toMatch(/not known by this name/);
    },
  );
});

it("answers to no address but its own where it listens at one", () => {
  expect(findRefusal(ask("10.1.2.3"), { host: "10.0.0.5", allowsActions: false })).not.toBeNull();
});

const pause = {
  method: "PUT",
  path: "/api/queues/fetch-catalogue%40x/pause",
  origin: "http://localhost:9400",
};

it("has no effects unless it was told to", () => {
  const shows = { host: "127.0.0.1", allowsActions: false };
  for (const method of ["PUT", "POST", "PATCH", "DELETE"])
    expect(findRefusal(ask("localhost:9400", { ...pause, method }), shows)).toMatch(/--allow-actions/);
});

describe("with --allow-actions", () => {
  const options = { host: "127.0.0.1", allowsActions: true };

  it.each([
    "/api/queues/pause",
    "/api/queues/q/resume",
    "/api/queues/q/empty",
    "/api/queues/q/clean/waiting",
    "/api/queues/q/42/clean",
    "/api/queues/q/42/promote",
  ])("takes %s from its own pages", (path) => {
    expect(findRefusal(ask("localhost:9400", { ...pause, path }), options)).toBeNull();
  });

  it.each(["", "http://evil.example", "http://localhost:9401", "https://localhost:9400", "null"])(
    "takes nothing from a page at %j",
    (origin) => {
      expect(findRefusal(ask("localhost:9400", { ...pause, origin }), options)).toMatch(/own pages/);
    },
  );

  it.each([
    "/api/queues/q/add",
    "/api/queues/q/42/retry",
    "/api/queues/q/42/update-data",
    "/api/queues/q/retry/failed",
    "/api/queues/q/rate-limit/release",
    "/api/queues/q/job-schedulers/s/run",
    "/api/queues/q/concurrency",
  ])("does not take %s, by which requests would be sent that nobody reserved", (path) => {
    for (const method of ["PUT", "POST", "PATCH"])
      expect(findRefusal(ask("localhost:9400", { ...pause, method, path }), options)).toMatch(/reserved/);
  });
});
