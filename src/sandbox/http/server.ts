/** The HTTP server: turns requests into plain data for the service and replies into bytes. Plain `node:http`, for speed. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Admin } from "./admin.ts";
import { deliverWhole, jsonReply, type Reply } from "./reply.ts";
import type { RequestLog } from "./request-log.ts";
import type { Service } from "./service.ts";

export interface ServerParts {
  readonly service: Service;
  readonly admin: Admin;
  readonly log: RequestLog;
  readonly latencyMillis: number;
}

const adminPrefix = "/__sandbox/";

/** Idle connections stay open: only faults close a connection unexpectedly. */
const keepAliveMillis = 120_000;

export function createHttpServer({ service, admin, log, latencyMillis }: ServerParts): Server {
  return createServer({ keepAliveTimeout: keepAliveMillis, noDelay: true }, (request, response) => {
    const { url: target = "/", headers } = request;
    const host = headers.host ?? "";
    if (!isHost(host)) {
      deliverWhole(response, jsonReply(400, { message: "A Host header is needed" }));
      return;
    }
    if (target.startsWith(adminPrefix)) {
      void admin(request, response, `http://${host}`);
      return;
    }
    const { reply, observation } = service.answer({
      method: request.method ?? "GET",
      target,
      host,
      authorization: headers.authorization,
      ifNoneMatch: headers["if-none-match"],
      ifModifiedSince: headers["if-modified-since"],
      acceptsGzip: acceptsGzip(request),
      peer: request.socket.remoteAddress ?? "",
    });
    log.add(observation);
    send(response, reply, latencyMillis);
  });
}

function send(response: ServerResponse, reply: Reply, latencyMillis: number): void {
  const deliver = reply.deliver ?? deliverWhole;
  if (latencyMillis === 0) {
    deliver(response, reply);
    return;
  }
  const timer = setTimeout(() => deliver(response, reply), latencyMillis);
  response.once("close", () => clearTimeout(timer));
}

function acceptsGzip({ headers }: IncomingMessage): boolean {
  const accepted = headers["accept-encoding"];
  return typeof accepted === "string" && /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted);
}

/** A name or address with an optional port; it becomes part of every URL. */
function isHost(host: string): boolean {
  return /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i.test(host);
}
