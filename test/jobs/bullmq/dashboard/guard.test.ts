import { describe, expect, it } from "vitest";
import { findRefusal } from "../../../../jobs/bullmq/dashboard/guard.ts";

const requestFor = (host: string, method = "GET") => {
  const isAddress = /^[\w.:[\]]+$/.test(host);
  return new Request(`http://${isAddress ? host : "localhost"}/metrics`, { method, headers: { host } });
};

describe.each([
  {
    host: "127.0.0.1",
    known: ["127.0.0.1:9400", "localhost:9400", "localhost", "[::1]:9400", "[::ffff:127.0.0.1]"],
  },
  { host: "10.0.0.5", known: ["10.0.0.5:9400", "localhost:9400"] },
  { host: "Dashboard", known: ["dashboard:9400", "DASHBOARD:9400"] },
  { host: "0.0.0.0", known: ["10.1.2.3:9400", "[fe80::1]:9400", "localhost:9400"] },
])("host $host", ({ host, known }) => {
  const options = { host };

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
  const options = { host: "0.0.0.0", names: ["Worker"] };
  expect(findRefusal(requestFor("worker:9400"), options)).toBeNull();
  expect(findRefusal(requestFor("worker.evil.example:9400"), options)).toMatch(/--dashboard-name/);
});

it("a dashboard at one address rejects other addresses as host name", () => {
  expect(findRefusal(requestFor("10.1.2.3"), { host: "10.0.0.5" })).not.toBeNull();
});

it("a dashboard rejects an address of another host, whatever the Host is", () => {
  const request = new Request("http://evil.example/metrics", { headers: { host: "localhost:9400" } });
  expect(findRefusal(request, { host: "127.0.0.1" })).toMatch(/does not accept this host name/);
});

it("a dashboard rejects all changes", () => {
  for (const method of ["PUT", "POST", "PATCH", "DELETE"])
    expect(findRefusal(requestFor("localhost:9400", method), { host: "127.0.0.1" })).toMatch(/only be read/);
});
