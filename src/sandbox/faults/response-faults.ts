/** Faults of the status line (refusals, `Retry-After`, redirects, unexpected "not modified"), of headers and of the body's text. */

import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { jsonReply, type Reply, withBody, withHeader } from "../http/reply.ts";
import { fillIn, type ReplyFault, type TextFault } from "./fault.ts";

const messages: Readonly<Record<number, string>> = {
  401: "Not authenticated",
  403: "This token does not have the scope for this",
  404: "Not found",
  410: "Gone",
  429: "Too many requests",
};

/** More redirects than any client should follow. */
const endlessHops = 1_000_000;

export const statusFaults = {
  status(reply, { parameters, nowMillis }) {
    const { status = 503, retryAfter = [] } = parameters;
    const message = messages[status] ?? "Something went wrong";
    const body =
      status === 401 ? { message, spec: "https://www.service.example/docs/api/authentication" } : { message };
    return withHeader(
      instead(reply, status, body),
      "Retry-After",
      ...[retryAfter].flat().map((form) => dateIn(form, nowMillis)),
    );
  },

  "not-authenticated"(reply, { parameters }) {
    const body = {
      message: "Not authenticated",
      spec: "https://www.service.example/docs/api/authentication",
    };
    return instead(reply, parameters.status ?? 401, body);
  },

  "bare-refusal"(reply, { parameters }) {
    return instead(reply, parameters.status ?? 403, {});
  },

  "allowance-spent"(reply, { parameters, nowMillis }) {
    const body = { message: "API rate limit exceeded, see https://www.service.example/docs/api/rate-limit" };
    const refused = withHeader(instead(reply, parameters.status ?? 403, body), "X-RateLimit-Remaining", "0");
    return withHeader(
      refused,
      "X-RateLimit-Reset",
      String(Math.ceil(nowMillis / 1_000) + (parameters.count ?? 60)),
    );
  },

  redirect(reply, { parameters, url }) {
    const location = fillIn(parameters.target ?? "{url}", url);
    return withHeader(instead(reply, parameters.status ?? 302, {}), "Location", location);
  },

  "redirect-chain"(reply, { parameters, url }) {
    const here = new URL(url);
    const hop = Number(here.searchParams.get("again") ?? 0);
    if (hop >= (parameters.count ?? endlessHops)) return reply;
    here.searchParams.set("again", String(hop + 1));
    return withHeader(instead(reply, parameters.status ?? 302, {}), "Location", here.href);
  },

  "not-modified": (reply) => ({ ...withHeader(reply, "Content-Length"), status: 304, body: Buffer.alloc(0) }),
} satisfies Record<string, ReplyFault>;

/** Another reply with the same date and allowance headers. */
function instead(reply: Reply, status: number, value: unknown): Reply {
  const other = jsonReply(status, value);
  const kept = withHeader(withHeader(withHeader(reply, "Content-Type"), "Content-Length"), "ETag");
  return { status, headers: [...kept.headers, ...other.headers], body: other.body };
}

function dateIn(form: string, nowMillis: number): string {
  const seconds = /^@(-?\d+)$/.exec(form)?.[1];
  return seconds === undefined ? form : new Date(nowMillis + Number(seconds) * 1_000).toUTCString();
}

/** Header faults: wrong content types, wrong or excessive encodings, wrong validators. */

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

  /** Applies a known encoding even if the client did not accept it; only names an unknown one. */
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

  /** The correct body followed by spaces: gzip members of 1 MiB each, one of which is compressed and repeated. */
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

/** Faults of the body's text: not JSON, two documents, not UTF-8, or JSON that careless programs misread. */

export const textFaults = {
  /** Any text instead of the body. */
  text: (_text, { parameters }) => String(parameters.value ?? ""),
  "empty-body": () => "",
  "json-null": () => "null",
  "json-array": (text) => `[${text}]`,
  "json-string": (text) => JSON.stringify(text),
  "not-json": (text) => text.slice(0, -1).replaceAll('"', "'"),
  "two-documents": (text) => `${text}\n${text}`,
  "trailing-garbage": (text) => `${text}<!-- cached -->`,
  "byte-order-mark": (text) => `\uFEFF${text}`,
  "invalid-utf8": (text) =>
    Buffer.concat([
      Buffer.from(text.slice(0, -1)),
      Buffer.from([0x2c, 0x22, 0xff, 0xfe, 0xc0, 0x22, 0x3a, 0x31, 0x7d]),
    ]),
  "utf-16": (text) => Buffer.from(`\uFEFF${text}`, "utf16le"),
  "big-numbers": (text) =>
    atBody(
      text.replace(/"bra_count":"?\d+"?/, '"bra_count":9007199254740993'),
      '"huge":1e400,"negative_zero":-0,"precise":0.30000000000000004441,',
    ),
  "duplicate-keys": (text) => atBody(text, '"name":"first","name":"second",'),
  /** The right value is last, so that parsers that ignore the other one see no fault. */
  "two-bodies": (text) => `{"${text.includes('"collection":[') ? "collection" : "body"}":{},${text.slice(1)}`,
  "prototype-keys": (text) =>
    atBody(
      `{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},${text.slice(1)}`,
      '"__proto__":{"polluted":true},',
    ),
  /** Deeper than `JSON.stringify` can write. */
  deep: (text, { parameters }) => {
    const depth = parameters.count ?? 5_000;
    return atBody(text, `"deep":${"[".repeat(depth)}${"]".repeat(depth)},`);
  },
} satisfies Record<string, TextFault>;

/** Inserts members at the start of an entity's body, or of the envelope of anything else. */
function atBody(text: string, members: string): string {
  return text.includes('"body":{"')
    ? text.replace('"body":{', () => `"body":{${members}`)
    : `{${members}${text.slice(1)}`;
}
