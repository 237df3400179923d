/** Whether an address is public or in a private network, so that URLs of the service cannot lead into private networks. */
import { lookup as lookupHost } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** `reserved` includes link-local addresses, where cloud machines offer their metadata services. */
export type IpClass = "public" | "private" | "loopback" | "reserved";

const ranges: Readonly<Record<Exclude<IpClass, "public">, readonly string[]>> = {
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
  return [name as IpClass, list] as const;
});

/** @param address as `node:dns` writes it; an IPv4-mapped IPv6 address is classed as the IPv4 address */
export function ipClassOf(address: string): IpClass {
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  return lists.find(([, list]) => list.check(address, family))?.[0] ?? "public";
}

/** The IP address in the host of a URL; null for a name. @param hostname as `URL` writes it */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 ? null : bare;
}

/** The class of a host that the user chose. A name that cannot be resolved counts as public. */
export async function ipClassOfHost(hostname: string): Promise<IpClass> {
  const literal = literalAddress(hostname);
  if (literal !== null) return ipClassOf(literal);
  const address = await lookupHost(hostname).then(
    (found) => found.address,
    () => null,
  );
  return address === null ? "public" : ipClassOf(address);
}

/** Whether a host can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  const address = literalAddress(host);
  return host === "localhost" || (address !== null && ipClassOf(address) === "loopback");
}
