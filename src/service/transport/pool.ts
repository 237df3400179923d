import { type LookupOptions, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { buildConnector, Pool } from "undici";
import { limits } from "../../../schema/input/limits.ts";
import { type IpClass, ipClassOf } from "../../platform/network/ip-class.ts";
import { privateAddress } from "./network-errors.ts";

export interface PoolOptions {
  /** At most so many sockets. */
  readonly connections: number;
  /** The classes of addresses that may be connected to. Default: all. */
  readonly allowed?: ReadonlySet<IpClass>;
  /** Resolves host names. Default: the system's resolver. */
  readonly lookup?: typeof lookup;
}

/** Connections to one origin. */
export function openPool(origin: string, limits: ServiceLimits, options: PoolOptions): Pool {
  const { connections, allowed, lookup: resolve = lookup } = options;
  const connect = buildConnector({
    // Explicit, since NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise switch it off silently.
    rejectUnauthorized: true,
    timeout: limits.headerTimeoutMillis,
    autoSelectFamily: true,
    allowH2: false,
    ...(allowed && { lookup: guardedLookup(allowed, resolve) }),
  });
  return new Pool(origin, {
    connections,
    allowH2: false,
    headersTimeout: limits.headerTimeoutMillis,
    bodyTimeout: limits.idleTimeoutMillis,
    connect: allowed === undefined ? connect : guardedConnector(allowed, connect),
  });
}

/** Refuses a connection by the address that it really has, before anything is sent. */
function guardedConnector(
  allowed: ReadonlySet<IpClass>,
  connect: buildConnector.connector,
): buildConnector.connector {
  return (options, callback) => {
    connect(options, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (allowed.has(ipClassOf(socket.remoteAddress ?? ""))) return callback(null, socket);
      socket.destroy();
      callback(privateAddressError(), null);
    });
  };
}

const privateAddressError = () => Object.assign(new Error("a private address"), { code: privateAddress });

/**
 * Resolves names as Node does, and refuses a name with any address of another class. It runs when a connection is made, so
 * that no later response of a name server can lead elsewhere.
 */
function guardedLookup(allowed: ReadonlySet<IpClass>, resolve: typeof lookup): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "");
      if (addresses.some(({ address }) => !allowed.has(ipClassOf(address)))) {
        return callback(privateAddressError(), "");
      }
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? "", first?.family);
    });
  };
}

/** Limits of one attempt; beyond them it fails. */
export interface ServiceLimits {
  /** Of one body as sent. */
  readonly wireBytes: number;
  /** Of one body after decompression. */
  readonly decodedBytes: number;
  /** Decoded bytes per byte sent; bodies of up to 1 MiB are exempt. */
  readonly ratio: number;
  /** From sending a request to the end of the response's headers, and the same again for connecting. */
  readonly headerTimeoutMillis: number;
  /** Between two chunks of a body. */
  readonly idleTimeoutMillis: number;
  /** For one whole attempt, however slowly bytes arrive. */
  readonly totalTimeoutMillis: number;
  readonly maxRedirects: number;
  readonly jsonDepth: number;
  readonly jsonValues: number;
}

const mebibyte = 1024 * 1024;

export const defaultLimits: ServiceLimits = {
  wireBytes: 16 * mebibyte,
  decodedBytes: limits.bodyBytes,
  ratio: 200,
  headerTimeoutMillis: 30_000,
  idleTimeoutMillis: 30_000,
  totalTimeoutMillis: 120_000,
  maxRedirects: 5,
  jsonDepth: limits.jsonDepth,
  jsonValues: limits.jsonValues,
};
