import { describe, expect, it } from "vitest";
import { hostnameOf, isOwnName } from "../../src/platform/network/host-names.ts";

describe("hostnameOf", () => {
  it.each([
    ["localhost:8900", "localhost"],
    ["LOCALHOST", "localhost"],
    ["[::1]:8900", "::1"],
    ["127.1:8900", "127.0.0.1"],
    ["", ""],
    ["a b", ""],
  ])("reads %j as %j", (header, name) => {
    expect(hostnameOf(header)).toBe(name);
  });
});

describe("isOwnName", () => {
  it.each(["127.0.0.1", "10.0.0.5", "0.0.0.0", "::"])("accepts loopback names on %s", (host) => {
    for (const name of ["localhost", "127.0.0.1", "::1"]) expect(isOwnName(name, host)).toBe(true);
  });

  it("accepts the address that the server listens on, in any case", () => {
    expect(isOwnName("archive", "Archive")).toBe(true);
    expect(isOwnName("10.0.0.6", "10.0.0.5")).toBe(false);
  });

  it.each(["0.0.0.0", "::"])("accepts every IP address on %s, and no other name", (host) => {
    expect(isOwnName("10.0.0.6", host)).toBe(true);
    expect(isOwnName("evil.example", host)).toBe(false);
    expect(isOwnName("", host)).toBe(false);
  });
});
