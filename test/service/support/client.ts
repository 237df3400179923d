import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../src/platform/clock.ts";
import {
  type FetchRequest,
  openServiceClient,
  type ServiceClient,
  type ServiceClientOptions,
} from "../../../src/service/client.ts";
import { ServiceError } from "../../../src/service/errors.ts";
import type { FetchResponse } from "../../../src/service/responses/fetch-response.ts";
import { type RawHandler, type RawServer, startRawServer } from "../../support/raw-server.ts";

/** A clock that moves only when somebody sleeps, and remembers how long. */
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

export interface Door extends AsyncDisposable {
  readonly server: RawServer;
  readonly service: ServiceClient;
  readonly clock: FakeClock;
  /** Fetches a path of the server. */
  readonly fetch: (path: string, more?: Omit<FetchRequest, "url">) => Promise<FetchResponse>;
}

/** A door onto a server of raw bytes; `await using` closes both. */
export async function openDoor(
  handler: RawHandler,
  options: Partial<ServiceClientOptions> = {},
): Promise<Door> {
  const server = await startRawServer(handler);
  const clock = fakeClock();
  const service = openServiceClient({ baseUrl: `${server.origin}/`, clock, ...options });
  return {
    server,
    service,
    clock,
    fetch: (path, more = {}) => service.fetch({ url: server.origin + path, ...more }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await service.close();
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
