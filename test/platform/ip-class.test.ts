import { describe, expect, it } from "vitest";
import { ipClassOf, ipClassOfHost } from "../../src/platform/network/ip-class.ts";

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
    ["::ffff:0:7f00:1", "reserved"],
    ["200::1", "reserved"],
    ["4000::1", "reserved"],
    ["fbff::1", "reserved"],
    ["2002:7f00:1::", "reserved"],
    ["0.0.0.0", "reserved"],
    ["::", "reserved"],
    ["::10.1.2.3", "reserved"],
    ["::a01:203", "reserved"],
    ["::ffff:93.184.216.34", "public"],
    ["3fff::1", "reserved"],
    ["3fff:1000::1", "public"],
    ["5f00::1", "reserved"],
    ["192.88.99.1", "reserved"],
    ["fe80::1%eth0", "reserved"],
    ["fd00::1%1", "private"],
    ["", "reserved"],
    ["no address", "reserved"],
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

it.each([
  [["10.0.0.1", "10.0.0.2"], "private"],
  [["127.0.0.1", "::1"], "loopback"],
  [["10.0.0.1", "93.184.216.34"], "public"],
  [["93.184.216.34", "10.0.0.1"], "public"],
  [["10.0.0.1", "127.0.0.1"], "public"],
  [[], "public"],
])("a name with the addresses %j is %s, in any order", async (addresses, expected) => {
  expect(await ipClassOfHost("service.example", async () => addresses)).toBe(expected);
});
