import { Pool } from "undici";
import type { guardedLookup } from "./guarded-lookup.ts";
import type { ServiceLimits } from "./limits.ts";

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
