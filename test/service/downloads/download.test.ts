/** Downloads of files: in parts, continued after a cut, and never from private networks unless that is allowed. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { type DownloadRequest, download } from "../../../src/service/downloads/download.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function startServer(handle: Handler) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handle(request, response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/catalogue.zip`,
    ranges: () => requests.map(({ headers }) => headers.range),
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Sends the requested part of a file. */
const sendPart =
  (file: () => Buffer, etag: () => string | null = () => '"1"'): Handler =>
  (request, response) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "") ?? [];
    const content = file();
    const part = content.subarray(Number(from), Number(to) + 1);
    if (part.length === 0) {
      response.writeHead(416).end();
      return;
    }
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${content.length}`;
    const version = etag();
    response.writeHead(206, { "content-range": range, ...(version !== null && { etag: version }) }).end(part);
  };

async function startTarget() {
  const folder = await temporaryFolder();
  const to = join(folder.path, "file.zip");
  const run = (url: string, more: Partial<DownloadRequest> = {}) =>
    download({
      url,
      to,
      maxBytes: 10_000,
      allowPrivate: true,
      partBytes: 1000,
      retry: { maxRetries: 0 },
      ...more,
    });
  return { to, run, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

it("a file arrives whole in parts, and nothing about the user is sent", async () => {
  const content = randomBytes(3456);
  await using server = await startServer(sendPart(() => content));
  await using target = await startTarget();
  await target.run(server.url);
  expect(readFileSync(target.to).equals(content)).toBe(true);
  expect(server.ranges()).toEqual(["bytes=0-999", "bytes=1000-1999", "bytes=2000-2999", "bytes=3000-3999"]);
  expect(existsSync(`${target.to}.part`)).toBe(false);
  const names = server.requests.flatMap(({ headers }) => Object.keys(headers));
  expect(new Set(names)).toEqual(
    new Set(["host", "connection", "accept", "accept-encoding", "user-agent", "range"]),
  );
});

it("a cut download is continued where it ended", async () => {
  const content = randomBytes(3456);
  let left = 2;
  const send = sendPart(() => content);
  await using server = await startServer((request, response) => {
    if (left-- > 0) send(request, response);
    else response.destroy();
  });
  await using target = await startTarget();
  await expect(target.run(server.url)).rejects.toMatchObject({
    code: "unavailable",
    hint: "What has arrived is kept; the same command continues.",
  });
  expect(statSync(`${target.to}.part`).size).toBe(2000);
  left = 9;
  await target.run(server.url);
  expect(readFileSync(target.to).equals(content)).toBe(true);
  expect(server.ranges().slice(-2)).toEqual(["bytes=2000-2999", "bytes=3000-3999"]);
});

it.each([
  ["within its first part", 0, () => '"1"'],
  ["later, but has no version to recognise it by", 2, () => null],
])("a download that ends %s keeps nothing, and says so", async (_when, parts, etag) => {
  const content = randomBytes(3456);
  let left = parts;
  const send = sendPart(() => content, etag);
  await using server = await startServer((request, response) => {
    if (left-- > 0) send(request, response);
    else response.writeHead(206, { "content-length": 1000 }).write("cut", () => response.destroy());
  });
  await using target = await startTarget();
  const hint = "Nothing was kept. Check the address, then try again.";
  await expect(target.run(server.url)).rejects.toMatchObject({ code: "unavailable", hint });
  expect(readdirSync(dirname(target.to))).toEqual([]);
  left = 9;
  await target.run(server.url);
  expect(server.ranges()[parts + 1]).toBe("bytes=0-999");
});

it("a file that was changed meanwhile is downloaded from its beginning", async () => {
  let content = randomBytes(3456);
  let version = 1;
  const send = sendPart(
    () => content,
    () => `"${version}"`,
  );
  await using server = await startServer((request, response) => {
    if (request.headers.range === "bytes=2000-2999" && version === 1) {
      content = randomBytes(1500);
      version = 2;
    }
    send(request, response);
  });
  await using target = await startTarget();
  await target.run(server.url);
  expect(readFileSync(target.to).equals(content)).toBe(true);
});

it("a server that sends only whole files is enough", async () => {
  const content = randomBytes(3456);
  await using server = await startServer((_request, response) => response.writeHead(200).end(content));
  await using target = await startTarget();
  await target.run(server.url);
  expect(readFileSync(target.to).equals(content)).toBe(true);
});

it("a redirect to another server is followed, as often as needed for each part", async () => {
  const content = randomBytes(1500);
  await using store = await startServer(sendPart(() => content));
  await using server = await startServer((_request, response) =>
    response.writeHead(302, { location: `${store.origin}/there` }).end(),
  );
  await using target = await startTarget();
  await target.run(server.url);
  expect(readFileSync(target.to).equals(content)).toBe(true);
});

it.each([
  ["file:///etc/passwd", "unavailable", /redirected to an address that is neither https: nor http:/],
  [
    "http://10.0.0.1/c.zip",
    "refused",
    /\/catalogue\.zip leads to a private network: http:\/\/10\.0\.0\.1\/c\.zip$/,
  ],
])("a redirect to %s is refused", async (location, code, message) => {
  await using server = await startServer((_request, response) => response.writeHead(302, { location }).end());
  await using target = await startTarget();
  await expect(target.run(server.url)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
});

it("private networks, too large files and wrong parts are refused", async () => {
  const content = randomBytes(3456);
  await using server = await startServer(sendPart(() => content));
  await using target = await startTarget();
  await expect(target.run(server.url, { allowPrivate: false })).rejects.toMatchObject({ code: "refused" });
  expect(server.requests).toHaveLength(0);
  const named = server.url.replace("127.0.0.1", "localhost");
  await expect(target.run(named, { allowPrivate: false })).rejects.toMatchObject({ code: "refused" });
  expect(server.requests).toHaveLength(0);
  await expect(target.run(server.url, { maxBytes: 3000 })).rejects.toMatchObject({ code: "too-large" });
  await expect(target.run("ftp://example.org/x.zip")).rejects.toMatchObject({ code: "invalid-address" });
  await using other = await startServer((_request, response) =>
    response.writeHead(206, { "content-range": "bytes 5-9/100" }).end("12345"),
  );
  await expect(target.run(other.url)).rejects.toMatchObject({ code: "unavailable" });
  expect(existsSync(target.to)).toBe(false);
});

it.each([
  [
    "dribbles within a part",
    (_request: IncomingMessage, response: ServerResponse) => {
      response.writeHead(206, { "content-range": "bytes 0-999/3456", "content-length": 1000, etag: '"1"' });
      const timer = setInterval(() => response.write("x"), 50);
      response.on("close", () => clearInterval(timer));
    },
    "Nothing was kept. Check the address, then try again.",
  ],
  [
    "sends parts of one byte",
    (request: IncomingMessage, response: ServerResponse) => {
      const [, from] = /bytes=(\d+)-/.exec(request.headers.range ?? "") ?? [];
      response.writeHead(206, { "content-range": `bytes ${from}-${from}/3456`, etag: '"1"' });
      setTimeout(() => response.end("x"), 50);
    },
    "What has arrived is kept; the same command continues.",
  ],
  [
    "cuts each attempt",
    (_request: IncomingMessage, response: ServerResponse) => void setTimeout(() => response.destroy(), 50),
    "Nothing was kept. Check the address, then try again.",
  ],
])("a download ends if the server %s for longer than the pace allows", async (_how, handle, hint) => {
  await using server = await startServer(handle);
  await using target = await startTarget();
  const retry = { maxRetries: 1_000, minDelayMillis: 1, maxDelayMillis: 1 };
  const downloading = target.run(server.url, { retry, pace: { graceMillis: 1_000, bytesPerSecond: 100 } });
  await expect(downloading).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/: too slow: \d+ bytes have arrived in \d+ s$/),
    hint,
  });
});
