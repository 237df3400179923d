import { classOfAddress, literalAddress } from "../../../src/service/transport/address-class.ts";

/** Whether an address, or a name as one, can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  const address = literalAddress(host);
  return host === "localhost" || (address !== null && classOfAddress(address) === "loopback");
}
