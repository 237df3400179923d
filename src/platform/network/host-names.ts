/**
 * Whether a request to a local server names that server. A page of another site, open in the user's browser, could
 * otherwise read it through a host name that resolves to this machine (DNS rebinding). Pure.
 */
import { isIP } from "node:net";
import { isLoopback } from "./ip-class.ts";

/** The host name in a `Host` header, in lower case, without port and brackets; empty if the header is none. */
export function hostnameOf(hostHeader: string): string {
  const url = URL.parse(`http://${hostHeader}`);
  return (url?.hostname ?? "").replace(/^\[(.*)\]$/, "$1");
}

/**
 * Whether a request names no other host than the server: neither in `Host`, nor in an absolute address, which would count (RFC
 * 9112, section 3.2.2).
 * @param host the address that the server listens on
 * @param names further host names
 */
export function isForServer(
  { url, headers }: Pick<Request, "url" | "headers">,
  host: string,
  names: readonly string[] = [],
): boolean {
  return [headers.get("host") ?? "", new URL(url).host]
    .map(hostnameOf)
    .every((name) => isOwnName(name, host) || names.some((known) => known.toLowerCase() === name));
}

/**
 * A server on all addresses accepts any IP address as host name: DNS cannot make it lead elsewhere, unlike a name.
 * @param name as `hostnameOf` returns it
 * @param host the address that the server listens on
 */
export function isOwnName(name: string, host: string): boolean {
  if (isLoopback(name) || name === host.toLowerCase()) return true;
  return isAnyAddress(host) && isIP(name) !== 0;
}

function isAnyAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
