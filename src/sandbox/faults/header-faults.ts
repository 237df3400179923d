/** Faults of the headers: wrong types, encodings that hide too much or are none, validators that lie. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type Reply, withBody, withHeader } from "../http/reply.ts";
import type { ReplyFault } from "./fault.ts";

const loginPage =
  "<!doctype html><title>Sign in</title><h1>Welcome to Hotel Wi-Fi</h1><form><button>Accept</button></form>";

const encoders: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  br: brotliCompressSync,
  deflate: deflateSync,
  gzip: gzipSync,
  zstd: zstdCompressSync,
};

const mebibyte = 2 ** 20;

export const headerFaults = {
  header(reply, { parameters }) {
    const { name = "X-Fault", value = null } = parameters;
    return withHeader(reply, name, ...(value === null ? [] : [value].flat().map(String)));
  },

  "wrong-content-type": (reply, { parameters }) =>
    withHeader(reply, "Content-Type", String(parameters.value ?? "text/html")),

  "no-content-type": (reply) => withHeader(reply, "Content-Type"),

  "login-page": (reply) =>
    withHeader(withBody(withHeader(reply, "ETag"), Buffer.from(loginPage)), "Content-Type", "text/html"),

  /** A known encoding is really applied, whether it was offered or not; an unknown one is only claimed. */
  encoding(reply, { parameters }) {
    const name = String(parameters.value ?? "snappy");
    const body = encoders[name]?.(reply.body) ?? reply.body;
    return withHeader(withBody(reply, body), "Content-Encoding", name);
  },

  "chained-encodings": (reply, { parameters }) => {
    const count = parameters.count ?? 6;
    let { body } = reply;
    for (let layer = 0; layer < count; layer++) body = gzipSync(body);
    return withHeader(withBody(reply, body), "Content-Encoding", ...Array<string>(count).fill("gzip"));
  },

  /** The right body, then so many spaces, as gzip members of a mebibyte each, which repeat without being made anew. */
  "gzip-bomb"(reply, { parameters }) {
    const mebibytes = Math.ceil((parameters.bytes ?? 200 * mebibyte) / mebibyte);
    const spaces = gzipSync(Buffer.alloc(mebibyte, " "), { level: 9 });
    const body = Buffer.concat([gzipSync(reply.body), ...Array<Buffer>(mebibytes).fill(spaces)]);
    return withHeader(withBody(reply, body), "Content-Encoding", "gzip");
  },

  "same-etag-other-body": (reply) => withBody(reply, otherBody(reply)),
} satisfies Record<string, ReplyFault>;

function otherBody({ body }: Reply): Buffer {
  return Buffer.from(body.toString().replace(/"name":"/g, '"name":"Other '));
}
