import { describe, expect, it } from "vitest";
import { ipClassOf, ipClassOfHost } from "../../src/platform/ip-class.ts";

describe("the class of an address", () => {
  it.each([
    ["93.184.216.34", "public"],
    ["2606:2800:220:1:248:1893:25c8:1946", "public"],
    ["127.0.0.1", "loopback"],
    ["127.9.9.9", "loopback"],
    ["::1", "loopback"],
    ["::ffff:127.0.0.1", "loopback"],
    ["::ffff:7f00:1", "loopback"],
    ["10.1.2.3", "private"],
    ["172.16.0.1", "private"],
    ["172.32.0.1", "public"],
    ["192.168.1.1", "private"],
    ["::ffff:192.168.1.1", "private"],
    ["100.64.0.1", "private"],
    ["fd00::1", "private"],
    ["169.254.169.254", "reserved"],
    ["::ffff:a9fe:a9fe", "reserved"],
    ["64:ff9b::7f00:1", "reserved"],
    ["2002:7f00:1::", "reserved"],
    ["0.0.0.0", "reserved"],
    ["::", "reserved"],
    ["fe80::1", "reserved"],
    ["224.0.0.1", "reserved"],
    ["255.255.255.255", "reserved"],
  ])("%s is %s", (address, expected) => {
    expect(ipClassOf(address)).toBe(expected);
  });
});

it.each([
  ["http://2130706433/", "loopback"],
  ["http://0x7f.1/", "loopback"],
  ["http://[::1]:80/", "loopback"],
  ["http://localhost/", "loopback"],
  ["http://no-such-host.invalid/", "public"],
])("the host of %s is %s", async (url, expected) => {
  expect(await ipClassOfHost(new URL(url).hostname)).toBe(expected);
});
