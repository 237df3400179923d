/** Serves the API on a free port, as `armoire serve` does. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { systemClock } from "../../../../src/platform/clock.ts";
import { type ApiOptions, createApi } from "../../../../src/web/api/create-api.ts";
import { listen } from "../../../../src/web/listen.ts";
import { createAccessKey } from "../../../../src/web/session/access-key.ts";

/** The key of every served account. */
export const key = "canary-key-of-the-api";

/** A response as Node.js reads it. */
export interface PlainResponse {
  readonly status: number;
  text(): Promise<string>;
}

export interface ServedApi extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string;
  /** @param target path and query */
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** As `get`, with any headers: `fetch` sends the real host name. */
  request(target: string, headers: Readonly<Record<string, string>>): Promise<PlainResponse>;
}

export async function serveApi(
  options: Pick<ApiOptions, "findCatalogue"> & Partial<ApiOptions>,
): Promise<ServedApi> {
  const { clock = systemClock, host = "127.0.0.1" } = options;
  const api = createApi({ key: createAccessKey(key, clock), host, ...options });
  const { origin, port, close } = await listen(api.handlers, {
    host: "127.0.0.1",
    port: 0,
    flag: "--api-port",
  });
  return {
    origin,
    get: (target, headers = {}) => fetch(origin + target, { headers, redirect: "manual" }),
    async request(target, headers) {
      const sent = request({ host: "127.0.0.1", port, path: target, headers }).end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      return { status: response.statusCode ?? 0, text: () => text(response) };
    },
    async [Symbol.asyncDispose]() {
      await close();
      api.close();
    },
  };
}

export const authorization = { authorization: `bearer ${key}` };
