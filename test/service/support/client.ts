import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../src/platform/clock.ts";
import {
  type FetchRequest,
  openServiceClient,
  type ServiceClient,
  type ServiceClientOptions,
} from "../../../src/service/client.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { FetchResponse } from "../../../src/service/fetch-result.ts";
import { type RawHandler, type RawServer, startRawServer } from "../../support/raw-server.ts";

/** A clock that moves only by `sleep`, and records each one. */
export interface FakeClock extends Clock {
  readonly sleeps: readonly number[];
  sleep: Clock["sleep"];
}

export function fakeClock(startMillis = Date.UTC(2026, 0, 15, 12)): FakeClock {
  const sleeps: number[] = [];
  let now = startMillis;
  return {
    sleeps,
    now: () => now,
    random: () => 0,
    async sleep(millis, signal) {
      signal?.throwIfAborted();
      sleeps.push(millis);
      now += millis;
      await setImmediate();
      signal?.throwIfAborted();
    },
  };
}

export interface ClientRig extends AsyncDisposable {
  readonly server: RawServer;
  readonly client: ServiceClient;
  readonly clock: FakeClock;
  /** Fetches a path of the server. */
  readonly fetch: (path: string, more?: Omit<FetchRequest, "url">) => Promise<FetchResponse>;
}

/** A client of a server that sends raw bytes; `await using` closes both. */
export async function startClientRig(
  handler: RawHandler,
  options: Partial<ServiceClientOptions> = {},
): Promise<ClientRig> {
  const server = await startRawServer(handler);
  const clock = fakeClock();
  const client = openServiceClient({ baseUrl: `${server.origin}/`, clock, ...options });
  return {
    server,
    client,
    clock,
    fetch: (path, more = {}) => client.fetch({ url: server.origin + path, ...more }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await client.close();
    },
  };
}

/** The ServiceError that a fetch rejects with; anything else fails the test. */
export async function failureOf(fetching: Promise<unknown>): Promise<ServiceError> {
  try {
    await fetching;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error("the fetch succeeded");
}

/** The parsed body of a response; any other outcome fails the test. */
export function jsonOf(fetched: FetchResponse): unknown {
  if (fetched.outcome !== "body") throw new Error(fetched.outcome);
  return JSON.parse(new TextDecoder().decode(fetched.body));
}
