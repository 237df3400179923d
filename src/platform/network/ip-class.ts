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
    "192.88.99.0/24",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/3",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
    // All but 2000::/3, which alone is allocated to public addresses.
    "::/3",
    "4000::/2",
    "8000::/1",
  ],
};

/** The first that has an address is its class. */
const listsOf = (family: "ipv4" | "ipv6") =>
  Object.entries(ranges).map(([name, subnets]) => {
    const list = new BlockList();
    for (const subnet of subnets) {
      const [network = "", bits] = subnet.split("/");
      if (network.includes(":") === (family === "ipv6")) list.addSubnet(network, Number(bits), family);
    }
    return [name as IpClass, list] as const;
  });

const lists = { ipv4: listsOf("ipv4"), ipv6: listsOf("ipv6") };

const mapped = new BlockList();
mapped.addSubnet("::ffff:0:0", 96, "ipv6");

/**
 * @param address as `node:dns` and sockets write it, also with a zone; an IPv4-mapped IPv6 address is classed as the
 * IPv4 address. Any other text is `reserved`.
 */
export function ipClassOf(address: string): IpClass {
  const [bare = ""] = address.split("%", 1);
  if (isIP(bare) === 0) return "reserved";
  const family = isIP(bare) === 6 ? "ipv6" : "ipv4";
  const inside = family === "ipv6" && mapped.check(bare, family) ? "ipv4" : family;
  return lists[inside].find(([, list]) => list.check(bare, family))?.[0] ?? "public";
}

/** The IP address in the host of a URL; null for a name. @param hostname as `URL` writes it */
export function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(bare) === 0 ? null : bare;
}

/** All addresses of a name. Rejects for a name without any. */
export type ResolveHost = (hostname: string) => Promise<readonly string[]>;

const resolveHost: ResolveHost = async (hostname) =>
  (await lookupHost(hostname, { all: true })).map(({ address }) => address);

/**
 * The class of a host that the user chose: that of all its addresses. A name whose addresses are of several classes, or
 * that cannot be resolved, counts as public, since its owner must not open a private network by one more address.
 */
export async function ipClassOfHost(hostname: string, resolve: ResolveHost = resolveHost): Promise<IpClass> {
  const literal = literalAddress(hostname);
  if (literal !== null) return ipClassOf(literal);
  const addresses = await resolve(hostname).catch(() => []);
  const [first, ...others] = new Set(addresses.map(ipClassOf));
  return first === undefined || others.length > 0 ? "public" : first;
}

/** Whether a host can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  const address = literalAddress(host);
  return host === "localhost" || (address !== null && ipClassOf(address) === "loopback");
}
