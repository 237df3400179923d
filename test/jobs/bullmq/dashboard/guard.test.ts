import { describe, expect, it } from "vitest";
import { findRefusal } from "../../../../jobs/bullmq/dashboard/guard.ts";

const requestFor = (host: string, { method = "GET", path = "/", origin = "" } = {}) =>
  new Request(`http://x${path}`, { method, headers: { host, ...(origin && { origin }) } });

describe.each([
  {
    host: "127.0.0.1",
    known: ["127.0.0.1:9400", "localhost:9400", "localhost", "[::1]:9400", "[::ffff:127.0.0.1]"],
  },
  { host: "10.0.0.5", known: ["10.0.0.5:9400", "localhost:9400"] },
  { host: "Dashboard", known: ["dashboard:9400", "DASHBOARD:9400"] },
  { host: "0.0.0.0", known: ["10.1.2.3:9400", "[fe80::1]:9400", "localhost:9400"] },
])("host $host", ({ host, known }) => {
  const options = { host, allowsActions: false };

  it.each(known)("a dashboard accepts the host name %s", (name) => {
    expect(findRefusal(requestFor(name), options)).toBeNull();
  });

  it.each(["evil.example:9400", "localhost.evil.example", "127.0.0.1.evil.example", "", "a b", "evil@x"])(
    "a dashboard rejects the host name %j, which may belong to another site",
    (name) => {
      expect(findRefusal(requestFor(name), options)).toMatch(/does not accept this host name/);
    },
  );
});

it("a dashboard accepts the further names that it is given, and no others", () => {
  const options = { host: "0.0.0.0", names: ["Worker"], allowsActions: false };
  expect(findRefusal(requestFor("worker:9400"), options)).toBeNull();
  expect(findRefusal(requestFor("worker.evil.example:9400"), options)).toMatch(/--dashboard-name/);
});

it("a dashboard at one address rejects other addresses as host name", () => {
  expect(findRefusal(requestFor("10.1.2.3"), { host: "10.0.0.5", allowsActions: false })).not.toBeNull();
});

const pause = {
  method: "PUT",
  path: "/api/queues/fetch-catalogue%40x/pause",
  origin: "http://localhost:9400",
};

it("a dashboard rejects all changes without --allow-actions", () => {
  const readOnly = { host: "127.0.0.1", allowsActions: false };
  for (const method of ["PUT", "POST", "PATCH", "DELETE"])
    expect(findRefusal(requestFor("localhost:9400", { ...pause, method }), readOnly)).toMatch(
      /--allow-actions/,
    );
});

describe("actions", () => {
  const options = { host: "127.0.0.1", allowsActions: true };

  it.each([
    "/api/queues/pause",
    "/api/queues/q/resume",
    "/api/queues/q/empty",
    "/api/queues/q/clean/waiting",
    "/api/queues/q/42/clean",
    "/api/queues/q/42/promote",
    "/api/queues/fetch-catalogue%40x~v2/42/retry",
    "/api/queues/fetch-catalogue%40x~v2~0a1b/retry/failed",
  ])("with --allow-actions, a dashboard accepts %s from its own pages", (path) => {
    expect(findRefusal(requestFor("localhost:9400", { ...pause, path }), options)).toBeNull();
  });

  it.each(["", "http://evil.example", "http://localhost:9401", "https://localhost:9400", "null"])(
    "with --allow-actions, a dashboard rejects changes from a page at %j",
    (origin) => {
      expect(findRefusal(requestFor("localhost:9400", { ...pause, origin }), options)).toMatch(/own pages/);
    },
  );

  it.each([
    "/api/queues/q/add",
    "/api/queues/q/42/retry",
    "/api/queues/q/42/update-data",
    "/api/queues/q/retry/failed",
    "/api/queues/fetch-catalogue%40x~v1/42/retry",
    "/api/queues/sync-catalogue%40x/42/retry",
    "/api/queues/fetch-catalogue%40x~v2/retry/completed",
    "/api/queues/q/rate-limit/release",
    "/api/queues/q/job-schedulers/s/run",
    "/api/queues/q/concurrency",
  ])("with --allow-actions, a dashboard rejects %s, which would send requests without a permit", (path) => {
    for (const method of ["PUT", "POST", "PATCH"])
      expect(findRefusal(requestFor("localhost:9400", { ...pause, method, path }), options)).toMatch(
        /reserved/,
      );
  });
});
