/** What a door sends its requests with. In: one address. Out: one answer as it came, or why there is none; nothing is judged. */
import { authorizationOf, type Credential } from "../credentials/credential.ts";
import { offeredEncodings } from "./content-encoding.ts";
import { DeadlineTimer } from "./deadlines.ts";
import { openPool, type PoolOptions, type ServiceLimits } from "./pool.ts";
import { type RawResponse, sendRequest } from "./send-request.ts";

export interface SendRequest {
  /** As `URL` writes it. */
  readonly url: string;
  /** `if-none-match` or `if-modified-since` and its value; else nothing. */
  readonly condition: readonly string[];
  readonly signal: AbortSignal | undefined;
}

export interface Transport {
  /** Rejects only with the reason of the caller's signal; where that came before it was sent, it fails as `withdrawn`. */
  send(request: SendRequest): Promise<RawResponse>;
  /** Lets what is being sent finish; may be called again. */
  close(): Promise<void>;
}

/** Sends from this process to one origin. @param headers sent with every request; names and values in turn */
export function openTransport(
  origin: string,
  headers: readonly string[],
  limits: ServiceLimits,
  options: PoolOptions,
): Transport {
  const pool = openPool(origin, limits, options);
  const inFlight = new DeadlineTimer(limits.totalTimeoutMillis);
  let closing: Promise<void> | undefined;
  return {
    send: ({ url, condition, signal }) =>
      sendRequest(pool, { url, headers: [...headers, ...condition], signal }, limits, inFlight),
    close() {
      closing ??= pool.close();
      return closing;
    },
  };
}

/** What every request to the service itself says, the credential among it; names and values in turn. */
export function serviceHeaders(credential: Credential | null, userAgent: string): string[] {
  const headers = ["accept", "application/json", "accept-encoding", offeredEncodings.join(", ")];
  headers.push("user-agent", userAgent);
  if (credential !== null) headers.push("authorization", authorizationOf(credential));
  return headers;
}
