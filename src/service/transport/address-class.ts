/**
 * Where an address leads: out into the world, or into a network of this machine's own. In: host names and addresses. Out:
 * what kind of place it is. So that what a stranger wrote cannot make this machine ask its own neighbours.
 */
import { lookup as lookupHost } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** `reserved` is everything that is nobody's in particular, link-local addresses with their services for machines included. */
export type AddressClass = "public" | "private" | "loopback" | "reserved";

const ranges: Readonly<Record<Exclude<AddressClass, "public">, readonly string[]>> = {
  loopback: ["127.0.0.0/8", "::1/128"],
  private: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"],
  reserved: [
    "0.0.0.0/8",
    "169.254.0.0/16",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "::/128",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "100::/64",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "fe80::/10",
    "fec0::/10",
    "ff00::/8",
  ],
};

const lists = Object.entries(ranges).map(([name, subnets]) => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = "", bits] = subnet.split("/");
    list.addSubnet(network, Number(bits), network.includes(":") ? "ipv6" : "ipv4");
  }
  return [name as AddressClass, list] as const;
});

/** @param address as `node:dns` writes it; an IPv4 address inside an IPv6 one is what it is by itself */
export function classOfAddress(address: string): AddressClass {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  return lists.find(([, list]) => list.check(address, family))?.[0] ?? "public";
}

/** The address that the host of a URL is by itself; null where it is a name. @param hostname as `URL` writes it */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 ? null : bare;
}

/** What a host is that the user chose herself; a name that cannot be looked up is taken for a public one. */
export async function classOfHost(hostname: string): Promise<AddressClass> {
  const literal = literalAddress(hostname);
  if (literal !== null) return classOfAddress(literal);
  const address = await lookupHost(hostname).then(
    (found) => found.address,
    () => null,
  );
  return address === null ? "public" : classOfAddress(address);
}
