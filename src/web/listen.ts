/** Listens for requests to one origin. */
import { once } from "node:events";
import { createAdaptorServer, type HttpBindings } from "@hono/node-server";
import type { Hono } from "hono";
import { hasCode, messageOf } from "../platform/errors.ts";
import { WebError } from "./errors.ts";

export interface Listening {
  /** Such as `http://127.0.0.1:8900`. */
  readonly origin: string;
  readonly port: number;
  /** Ends all connections. */
  close(): Promise<void>;
}

export type Incoming = HttpBindings["incoming"];
export type Outgoing = HttpBindings["outgoing"];

/** Answers a request without Hono. @returns false if Hono must do it */
export type Direct = (incoming: Incoming, outgoing: Outgoing) => boolean;

export interface Handlers {
  readonly fetch: Hono["fetch"];
  /** Default: Hono answers all requests. */
  readonly direct?: Direct;
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
export async function listen({ fetch, direct }: Handlers, { host, port, flag }: Address): Promise<Listening> {
  const server = createAdaptorServer({ fetch, serverOptions: { requestTimeout: requestMillis } });
  if (direct !== undefined) {
    const throughHono = server.listeners("request");
    server.removeAllListeners("request");
    server.on("request", (incoming: Incoming, outgoing: Outgoing) => {
      if (!direct(incoming, outgoing)) for (const listener of throughHono) listener(incoming, outgoing);
    });
  }
  server.setTimeout(idleMillis);
  if ("maxConnections" in server) server.maxConnections = maxConnections;
  if ("maxRequestsPerSocket" in server) server.maxRequestsPerSocket = maxRequestsPerConnection;
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
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}
