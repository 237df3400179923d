import { Pool } from "undici";
import type { guardedLookup } from "./guarded-lookup.ts";
import type { ServiceLimits } from "./limits.ts";

/** Connections to one origin. @param lookup finds its addresses; the system's own unless told */
export function openPool(
  origin: string,
  limits: ServiceLimits,
  {
    connections,
    lookup,
  }: { readonly connections: number; readonly lookup?: ReturnType<typeof guardedLookup> },
): Pool {
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
