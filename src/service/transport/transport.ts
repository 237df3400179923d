/** Sends requests. In: one address. Out: one response as it came, or why there is none; nothing is interpreted. */
import { authorizationOf, type Credential } from "../credentials/credential.ts";
import { offeredEncodings } from "./content-encoding.ts";
import { DeadlineTimer } from "./deadlines.ts";
import { openPool, type PoolOptions, type ServiceLimits } from "./pool.ts";
import { createResponseGuard } from "./response-guard.ts";
import { type RawResponse, sendRequest } from "./send-request.ts";

export interface SendRequest {
  /** As `URL` writes it. */
  readonly url: string;
  /** `if-none-match` or `if-modified-since` and its value; empty for an unconditional request. */
  readonly condition: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface Transport {
  /** Rejects only with the reason of the caller's signal; before anything was sent, it resolves with the failure `cancelled`. */
  send(request: SendRequest): Promise<RawResponse>;
  /** Waits for requests that are being sent; may be called again. */
  close(): Promise<void>;
}

/** Sends from this process to one origin. @param headers for every request; names and values alternate */
export function openTransport(
  origin: string,
  headers: readonly string[],
  limits: ServiceLimits,
  options: PoolOptions,
): Transport {
  const pool = openPool(origin, limits, options);
  const deadlines = new DeadlineTimer(limits.totalTimeoutMillis);
  let closing: Promise<void> | undefined;
  return {
    send: ({ url, condition, signal }) =>
      sendRequest(pool, { url, headers: [...headers, ...condition], signal }, limits, deadlines),
    close() {
      closing ??= pool.close();
      return closing;
    },
  };
}

export interface ServiceTransportOptions extends PoolOptions {
  readonly credential: Credential | null;
  readonly limits: ServiceLimits;
  readonly userAgent?: string;
}

/** Sends to the service with the credential, which no response that leaves the transport repeats. */
export function openServiceTransport(origin: string, options: ServiceTransportOptions): Transport {
  const { credential, limits, userAgent = "armoire" } = options;
  const headers = ["accept", "application/json", "accept-encoding", offeredEncodings.join(", ")];
  headers.push("user-agent", userAgent);
  if (credential === null) return openTransport(origin, headers, limits, options);
  headers.push("authorization", authorizationOf(credential));
  const transport = openTransport(origin, headers, limits, options);
  const guard = createResponseGuard(credential, limits);
  return {
    send: async (request) => guard(await transport.send(request), request.url),
    close: () => transport.close(),
  };
}
