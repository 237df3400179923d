/** A picture host besides the service: it sends the test's responses and records all requests. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type OutgoingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface PictureResponse {
  readonly status?: number;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
}

export interface PictureServer extends AsyncDisposable {
  /** Without a trailing slash. */
  readonly origin: string;
  readonly requests: readonly {
    readonly path: string;
    readonly headers: IncomingHttpHeaders;
    readonly raw: string;
  }[];
  /** Sets the response of a path; other paths return 404. */
  put(path: string, reply: PictureResponse): void;
}

/** The smallest PNG, with a text that makes it unique. */
export function png(text = ""): Buffer {
  const pixel =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";
  return Buffer.concat([Buffer.from(pixel, "base64"), Buffer.from(text)]);
}

export const pictureResponse = (text = "", headers: OutgoingHttpHeaders = {}): PictureResponse => ({
  headers: { "content-type": "image/png", ...headers },
  body: png(text),
});

export async function startPictureServer(): Promise<PictureServer> {
  const replies = new Map<string, PictureResponse>();
  const requests: PictureServer["requests"][number][] = [];
  const server = createServer((request, response) => {
    const { url: path = "", headers, rawHeaders } = request;
    requests.push({ path, headers, raw: rawHeaders.join("\n") });
    const { status = 200, headers: sent = {}, body } = replies.get(path) ?? { status: 404 };
    const tag = sent.etag;
    const since = sent["last-modified"];
    const isHeld =
      (tag !== undefined && headers["if-none-match"] === tag) ||
      (since !== undefined && headers["if-modified-since"] === since);
    response.writeHead(isHeld ? 304 : status, sent);
    response.end(isHeld ? undefined : body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    put: (path, reply) => void replies.set(path, reply),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
