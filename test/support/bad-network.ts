/**
 * A proxy between a client and a local server that simulates one network fault: it delivers the server's bytes late, in
 * other pieces, in part or never, or breaks or stalls the connection.
 */
import { connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream/promises";
import { setImmediate as nextTurn } from "node:timers/promises";

/** One connection: the server's bytes, and the client's socket. */
export interface Delivery {
  readonly bytes: AsyncIterable<Buffer>;
  readonly client: Socket;
  /** The number of earlier connections. */
  readonly index: number;
}

/** Delivers a server's bytes to the client. */
export type NetworkFault = (passing: Delivery) => AsyncIterable<Buffer>;

export interface BadNetwork extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string;
}

/** @param target the server's origin */
export async function startBadNetwork(target: string, fault: NetworkFault): Promise<BadNetwork> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let connections = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    return socket;
  };
  const server = createServer((client) => {
    const index = connections++;
    keep(client);
    const upstream = keep(connect(Number(port), hostname));
    client.pipe(upstream);
    client.on("close", () => upstream.destroy());
    void pipeline(fault({ bytes: upstream, client, index }), client).catch(() => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the network has no port");
  return {
    origin: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Delivers pieces of this size, each in its own turn of the event loop. */
export const inPieces = (size: number): NetworkFault =>
  async function* ({ bytes }) {
    for await (const chunk of bytes) {
      for (let start = 0; start < chunk.length; start += size) {
        yield chunk.subarray(start, start + size);
        await nextTurn();
      }
    }
  };

/** Delivers this number of bytes, then applies the fault, on each connection whose index `isStruck`. */
export const afterBytes = (
  bytesBefore: number,
  strike: (client: Socket) => void | Promise<void>,
  isStruck: (index: number) => boolean,
): NetworkFault =>
  async function* ({ bytes, client, index }) {
    let remaining = isStruck(index) ? bytesBefore : Number.POSITIVE_INFINITY;
    for await (const chunk of bytes) {
      yield chunk.subarray(0, remaining);
      remaining -= chunk.length;
      if (remaining <= 0) await strike(client);
      if (remaining <= 0) return;
    }
  };
