/** ETags, conditional requests and compression. */
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { send } from "./support/client.ts";

const conditional = (etag: string | undefined): { headers: { "If-None-Match": string } } => ({
  headers: { "If-None-Match": etag ?? "" },
});

describe.each(["strong", "weak"] as const)("%s validators", (etag) => {
  it("a matching If-None-Match gives 304, in any list and by weak comparison", async () => {
    await using sandbox = await startSandbox({ etag });
    const url = `${sandbox.url}brands/`;
    const { headers } = await send(url);
    const tag = headers.etag ?? "";
    expect(tag).toMatch(etag === "weak" ? /^W\/"[^"]+"$/ : /^"[^"]+"$/);
    for (const form of [tag, "*", `"other", ${tag}`, `W/${tag.replace("W/", "")}`]) {
      const reply = await send(url, conditional(form));
      expect(reply).toMatchObject({ status: 304, headers: { etag: tag } });
      expect(reply.bytes).toHaveLength(0);
    }
    expect((await send(url, conditional('"other"'))).status).toBe(200);
  });

  it("the ETag changes with the content", async () => {
    await using sandbox = await startSandbox({ etag });
    const { actions } = sandbox.advance({ changes: 1, kind: "brand" });
    const changed = actions.find(({ kind }) => kind === "brand")?.url ?? "";
    const before = (await send(changed)).headers.etag;
    expect((await send(changed, conditional(before))).status).toBe(304);
    for (let attempts = 100, url = ""; attempts > 0 && url !== changed; attempts--) {
      url =
        sandbox.advance({ changes: 1, kind: "brand" }).actions.find(({ kind }) => kind === "brand")?.url ??
        "";
    }
    const after = await send(changed, conditional(before));
    expect(after.status).toBe(200);
    expect(after.headers.etag).not.toBe(before);
  });
});

it("without validators, If-None-Match is ignored", async () => {
  await using sandbox = await startSandbox({ etag: "none" });
  expect((await send(sandbox.url)).headers).not.toHaveProperty("etag");
  expect((await send(sandbox.url, conditional("*"))).status).toBe(200);
});

it("long bodies are compressed on request and get another strong ETag", async () => {
  await using sandbox = await startSandbox({ brands: 20 });
  const url = `${sandbox.url}brands/`;
  const plain = await send(url);
  const gzipped = await send(url, { headers: { "Accept-Encoding": "br, gzip" } });
  expect(plain.headers).toMatchObject({ vary: "Accept-Encoding" });
  expect(plain.headers).not.toHaveProperty("content-encoding");
  expect(gzipped.headers).toMatchObject({ vary: "Accept-Encoding", "content-encoding": "gzip" });
  expect(gzipped.bytes.length).toBeLessThan(plain.bytes.length);
  expect(gunzipSync(gzipped.bytes)).toEqual(plain.bytes);
  expect(gzipped.headers.etag).not.toBe(plain.headers.etag);
  for (const tag of [plain.headers.etag, gzipped.headers.etag])
    expect((await send(url, conditional(tag))).status).toBe(304);
  const refused = await send(url, { headers: { "Accept-Encoding": "gzip;q=0, br" } });
  expect(refused.headers).not.toHaveProperty("content-encoding");
  expect((await send(sandbox.url, { headers: { "Accept-Encoding": "gzip" } })).headers).not.toHaveProperty(
    "content-encoding",
  );
});

it("a rotating ETag differs in every response, so nothing is ever not modified", async () => {
  await using sandbox = await startSandbox({ etag: "rotating" });
  for (const path of ["", "brands/", "rate-limit/"]) {
    const first = await send(sandbox.url + path);
    const second = await send(sandbox.url + path, conditional(first.headers.etag));
    expect(second).toMatchObject({ status: 200, headers: { etag: expect.stringMatching(/^"[^"]+"$/) } });
    expect(second.headers.etag).not.toBe(first.headers.etag);
    expect(path === "rate-limit/" || second.bytes.equals(first.bytes)).toBe(true);
  }
});
