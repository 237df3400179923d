/** Starts and stops an HTTP server for the pages and metrics of a process. */
import { once } from "node:events";
import { createAdaptorServer } from "@hono/node-server";

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** @throws what `toError` makes of the reason why it cannot listen */
export async function listen(
  fetch: (request: Request) => Response | Promise<Response>,
  { host, port }: ListenOptions,
  toError: (cause: unknown) => Error,
): Promise<Listening> {
  const server = createAdaptorServer({ fetch });
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (cause) {
    throw toError(cause);
  }
  const address = server.address();
  const actualPort = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}/`,
    async close() {
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}
