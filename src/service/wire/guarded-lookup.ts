import { type LookupOptions, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { type AddressClass, classOfAddress } from "./address-class.ts";
import { privateAddress } from "./network-failure.ts";

/**
 * Looks names up as Node does, and refuses those with an address of another class. It is asked as the connection is made, so
 * that no later answer of a name server can lead elsewhere.
 */
export function guardedLookup(allowed: ReadonlySet<AddressClass>): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "");
      if (addresses.some(({ address }) => !allowed.has(classOfAddress(address)))) {
        const refusal = Object.assign(new Error("a private address"), { code: privateAddress });
        return callback(refusal, "");
      }
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? "", first?.family);
    });
  };
}
