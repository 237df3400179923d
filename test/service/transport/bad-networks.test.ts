/** The client over a slow, cutting or stalling network: responses are complete, or requested again. */
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { startSandbox } from "../../../src/sandbox/sandbox.ts";
import { openServiceClient, type ServiceClientOptions } from "../../../src/service/client.ts";
import { afterBytes, inPieces, type NetworkFault, startBadNetwork } from "../../support/bad-network.ts";
import { fakeClock } from "../support/client.ts";

const everyThird = (index: number) => index % 3 === 0;
const end = (client: Socket) => void client.end();
const reset = (client: Socket) => void client.resetAndDestroy();
/** Like an intermediary that lost the connection: neither side is notified. */
const stall = async (client: Socket) => void (await once(client, "close"));

const late: NetworkFault = async function* ({ bytes }) {
  for await (const chunk of bytes) {
    await delay(3);
    yield chunk;
  }
};
const slowToClose: NetworkFault = async function* ({ bytes }) {
  yield* bytes;
  await delay(50);
};

const harmless: readonly (readonly [name: string, fault: NetworkFault])[] = [
  ["is late", late],
  ["delivers 200 bytes at a time", inPieces(200)],
  ["delivers a few bytes at a time", inPieces(7)],
  ["is slow to close", slowToClose],
];
/** The bytes before a fault: it strikes within the second response of a connection, or before the first one. */
const [withinResponse, beforeResponse] = [1_800, 0];
const harmful: readonly (readonly [name: string, fault: NetworkFault])[] = [
  ["ends connections before a response", afterBytes(beforeResponse, end, everyThird)],
  ["ends connections within a response", afterBytes(withinResponse, end, everyThird)],
  ["resets connections before a response", afterBytes(beforeResponse, reset, everyThird)],
  ["resets connections within a response", afterBytes(withinResponse, reset, everyThird)],
  ["stalls before a response", afterBytes(beforeResponse, stall, everyThird)],
  ["stalls within a response", afterBytes(withinResponse, stall, everyThird)],
];

const fetches = 24;

/** Fetches the root repeatedly. @returns the number of requests that the service received */
async function fetchAllThrough(fault: NetworkFault, options: Partial<ServiceClientOptions>): Promise<number> {
  await using sandbox = await startSandbox({ seed: 5, brands: 6, models: 40, sizes: 60, allowance: 10_000 });
  await using network = await startBadNetwork(sandbox.url, fault);
  const url = `${network.origin}/`;
  const expected = await (await fetch(sandbox.url)).text();
  sandbox.clearLog();
  const service = openServiceClient({ baseUrl: url, clock: fakeClock(), connections: 3, ...options });
  try {
    const responses = await Promise.all(Array.from({ length: fetches }, () => service.fetch({ url })));
    for (const response of responses)
      expect(response.outcome === "body" && textOf(response.body).replaceAll(url, sandbox.url)).toBe(
        expected,
      );
  } finally {
    await service.close();
  }
  return sandbox.log().length;
}

const textOf = (body: Uint8Array) => Buffer.from(body).toString();

test.each(harmless)(
  "over a network that %s every response arrives whole with one request",
  async (_name, fault) => {
    expect(await fetchAllThrough(fault, {})).toBe(fetches);
  },
);

test.each(harmful)(
  "over a network that %s every response arrives whole, with retries",
  async (_name, fault) => {
    const limits = { headerTimeoutMillis: 200, idleTimeoutMillis: 200 };
    expect(await fetchAllThrough(fault, { limits, retry: { maxRetries: 9 } })).toBeGreaterThan(fetches);
  },
);
