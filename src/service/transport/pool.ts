import { type LookupOptions, lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Pool } from "undici";
import { type IpClass, ipClassOf } from "../../platform/ip-class.ts";
import { privateAddress } from "./network-errors.ts";

export interface PoolOptions {
  /** Sockets at most. */
  readonly connections: number;
  /** Finds an origin's addresses; the system's own unless told. */
  readonly lookup?: ReturnType<typeof guardedLookup>;
}

/** Connections to one origin. */
export function openPool(origin: string, limits: ServiceLimits, { connections, lookup }: PoolOptions): Pool {
  return new Pool(origin, {
    connections,
    allowH2: false,
    headersTimeout: limits.headerTimeoutMillis,
    bodyTimeout: limits.idleTimeoutMillis,
    connect: {
      // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 would otherwise switch it off in silence.
      rejectUnauthorized: true,
      timeout: limits.headerTimeoutMillis,
      autoSelectFamily: true,
      ...(lookup && { lookup }),
    },
  });
}

/**
 * Looks names up as Node does, and refuses those with an address of another class. It is asked as the connection is made, so
 * that no later answer of a name server can lead elsewhere.
 */
export function guardedLookup(allowed: ReadonlySet<IpClass>): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, "");
      if (addresses.some(({ address }) => !allowed.has(ipClassOf(address)))) {
        const refusal = Object.assign(new Error("a private address"), { code: privateAddress });
        return callback(refusal, "");
      }
      if (options.all) return callback(null, addresses);
      const [first] = addresses;
      callback(null, first?.address ?? "", first?.family);
    });
  };
}

/** How much of the service's time and bytes one attempt may take; beyond it the attempt is ended. */
export interface ServiceLimits {
  /** Of one body as it is sent. */
  readonly wireBytes: number;
  /** Of one body after decompression. */
  readonly decodedBytes: number;
  /** Decoded bytes per wire byte; it counts only once a body decodes to more than a mebibyte. */
  readonly ratio: number;
  /** From sending a request to the end of the answer's headers; opening the connection has as much again. */
  readonly headerTimeoutMillis: number;
  /** Between two pieces of a body. */
  readonly idleTimeoutMillis: number;
  /** For one whole attempt; no drip of bytes puts it off. */
  readonly totalTimeoutMillis: number;
  readonly maxRedirects: number;
  readonly jsonDepth: number;
}

const mebibyte = 1024 * 1024;

export const defaultLimits: ServiceLimits = {
  wireBytes: 16 * mebibyte,
  decodedBytes: 16 * mebibyte,
  ratio: 200,
  headerTimeoutMillis: 30_000,
  idleTimeoutMillis: 30_000,
  totalTimeoutMillis: 120_000,
  maxRedirects: 5,
  jsonDepth: 64,
};
