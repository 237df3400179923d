/** Connection faults: bytes that arrive late, one by one, in part or never. */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { type Deliver, deliverWhole, type Reply, withBody, withHeader } from "../http/reply.ts";
import type { FaultParameters, ReplyFault } from "./fault.ts";

export const deliveryFaults = {
  /** Cuts the body and closes, with a `Content-Length`, a chunk or a connection end that does not show the loss. */
  truncate(reply, { parameters }) {
    const { framing = "length" } = parameters;
    if (framing === "gzip") {
      const whole = gzipSync(reply.body);
      return withHeader(
        withBody(reply, whole.subarray(0, cutOf(parameters, whole.length))),
        "Content-Encoding",
        "gzip",
      );
    }
    const part = reply.body.subarray(0, cutOf(parameters, reply.body.length));
    return onSocket(reply, (socket) =>
      socket.end(Buffer.concat([head(framed(reply, framing)), chunk(part, framing)])),
    );
  },

  reset: (reply, { parameters }) =>
    onSocket(reply, (socket) => {
      const part = reply.body.subarray(0, cutOf(parameters, reply.body.length));
      socket.write(Buffer.concat([head(reply), part]));
      // A reset discards bytes that the receiver has not read yet, so it is sent a little later.
      const timer = setTimeout(() => socket.resetAndDestroy(), parameters.millis ?? 10);
      socket.once("close", () => clearTimeout(timer));
    }),

  "hang-up": (reply) => onSocket(reply, (socket) => socket.destroy()),

  stall: (reply, { parameters }) =>
    onSocket(reply, (socket) => {
      socket.write(
        Buffer.concat([head(reply), reply.body.subarray(0, cutOf(parameters, reply.body.length))]),
      );
    }),

  "stall-headers": (reply) => onSocket(reply, () => undefined),

  drip: (reply, { parameters }) =>
    onSocket(reply, (socket) => {
      socket.write(head(reply));
      drip(socket, parameters, (index) =>
        index < reply.body.length ? reply.body.subarray(index, index + 1) : null,
      );
    }),

  /** Endless headers. */
  "drip-headers": (reply, { parameters }) =>
    onSocket(reply, (socket) => {
      socket.write(`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\n`);
      drip(socket, parameters, (index) => `X-Drip-${index}: 1\r\n`);
    }),

  slow: (reply, { parameters }) => ({
    ...reply,
    deliver: (response, late) => {
      const timer = setTimeout(() => deliverWhole(response, late), parameters.millis ?? 1_000);
      response.once("close", () => clearTimeout(timer));
    },
  }),

  /** A complete reply on a connection that closes despite keep-alive. */
  "close-after": (reply) => onSocket(reply, (socket) => socket.end(Buffer.concat([head(reply), reply.body]))),

  "not-modified-with-body": (reply) =>
    onSocket({ ...reply, status: 304 }, (socket) =>
      socket.end(Buffer.concat([head({ ...reply, status: 304 }), reply.body])),
    ),
} satisfies Record<string, ReplyFault>;

function onSocket(reply: Reply, write: (socket: Socket) => void): Reply {
  const deliver: Deliver = (response: ServerResponse) => {
    if (response.socket) write(response.socket);
  };
  return { ...reply, deliver };
}

function head({ status, headers }: Reply): Buffer {
  const lines = [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`];
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

function framed(reply: Reply, framing: FaultParameters["framing"]): Reply {
  if (framing === "chunked")
    return withHeader(withHeader(reply, "Content-Length"), "Transfer-Encoding", "chunked");
  if (framing === "close") return withHeader(withHeader(reply, "Content-Length"), "Connection", "close");
  return reply;
}

/** The final, empty chunk is never sent. */
function chunk(part: Buffer, framing: FaultParameters["framing"]): Buffer {
  if (framing !== "chunked" || part.length === 0) return part;
  return Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]);
}

function cutOf({ at = 0.5 }: FaultParameters, length: number): number {
  if (at < 0) return Math.max(0, length + at);
  return at < 1 ? Math.floor(length * at) : Math.min(length, at);
}

/** Sends piece after piece until there are no more or the client disconnects. */
function drip(
  socket: Socket,
  { millis = 100 }: FaultParameters,
  pieceAt: (index: number) => Buffer | string | null,
): void {
  let index = 0;
  const timer = setInterval(() => {
    const piece = pieceAt(index++);
    if (piece !== null) socket.write(piece);
    else socket.end();
  }, millis);
  socket.once("close", () => clearInterval(timer));
}
