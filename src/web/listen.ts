/** Listens for requests to one origin. */
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { hasCode, messageOf } from "../platform/errors.ts";
import { WebError } from "./errors.ts";

export interface Listening {
  /** Such as `http://127.0.0.1:8900`. */
  readonly origin: string;
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

export interface Address {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The option that chooses the port, for errors. */
  readonly flag: string;
}

const maxConnections = 256;
/** A client that sends thousands at once on a connection is then served in turns, between which the server can end. */
const maxRequestsPerConnection = 100;
/** For a connection on which nothing moves. */
const idleMillis = 30_000;
const requestMillis = 10_000;

/** @throws WebError if it cannot listen */
export async function listen(listener: RequestListener, { host, port, flag }: Address): Promise<Listening> {
  const server = createServer({ requestTimeout: requestMillis }, listener);
  server.setTimeout(idleMillis);
  server.maxConnections = maxConnections;
  server.maxRequestsPerSocket = maxRequestsPerConnection;
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (cause) {
    throw new WebError(
      "cannot-listen",
      `Cannot listen on ${host} port ${port}: ${messageOf(cause)}.`,
      hasCode(cause, "EADDRNOTAVAIL")
        ? "Give an address of this machine to --host."
        : `Choose another ${flag}, or 0 for any free one.`,
      { cause },
    );
  }
  const address = server.address();
  const actualPort = typeof address === "object" && address !== null ? address.port : port;
  return {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${actualPort}`,
    port: actualPort,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
