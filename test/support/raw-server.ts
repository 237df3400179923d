/**
 * A server that sends exactly the bytes given by the test, valid HTTP or not. In: a handler that writes to the socket.
 * Out: an address and the received requests.
 */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

export interface RawRequest {
  readonly path: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The number of earlier requests. */
  readonly index: number;
}

export type RawHandler = (request: RawRequest, socket: Socket) => void;

export interface RawServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string;
  readonly requests: readonly RawRequest[];
  /** The number of connections so far. */
  readonly connectionCount: () => number;
}

export interface RawServerOptions {
  /** Enables TLS. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

export async function startRawServer(
  handler: RawHandler,
  { tls }: RawServerOptions = {},
): Promise<RawServer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const onConnection = (socket: Socket) => {
    let pending = "";
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      pending += chunk.toString("latin1");
      for (let end = pending.indexOf("\r\n\r\n"); end !== -1; end = pending.indexOf("\r\n\r\n")) {
        const request = readRequest(pending.slice(0, end), requests.length);
        pending = pending.slice(end + 4);
        requests.push(request);
        handler(request, socket);
      }
    });
  };
  const server: Server = tls === undefined ? createServer(onConnection) : createTlsServer(tls, onConnection);
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the raw server has no port");
  return {
    origin: `${tls === undefined ? "http" : "https"}://127.0.0.1:${address.port}`,
    requests,
    connectionCount: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The bytes of a response; adds `content-length` unless the headers have it, `transfer-encoding` or `connection`. */
export function rawResponse(
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  body: string | Uint8Array = "",
): Buffer {
  const bytes = Buffer.from(body);
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((text) => `${name}: ${text}`),
  );
  const isFramed = Object.keys(headers).some((name) =>
    /^(content-length|transfer-encoding|connection)$/i.test(name),
  );
  if (!isFramed && status !== 304) lines.push(`content-length: ${bytes.length}`);
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Test\r\n${lines.join("\r\n")}\r\n\r\n`, "latin1"),
    bytes,
  ]);
}

/** A JSON response. */
export function jsonResponse(
  value: unknown,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
  status = 200,
): Buffer {
  return rawResponse(status, { "content-type": "application/json", ...headers }, JSON.stringify(value));
}

function readRequest(head: string, index: number): RawRequest {
  const [first = "", ...lines] = head.split("\r\n");
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { path: first.split(" ")[1] ?? "", headers, index };
}
