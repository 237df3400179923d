/** The service is not trusted: it may repeat the credential of the request anywhere in its response. */
import { deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { defaultLimits } from "../../../src/service/transport/pool.ts";
import { openServiceTransport } from "../../../src/service/transport/transport.ts";
import { jsonResponse, rawResponse } from "../../support/raw-server.ts";
import { failureOf, startClientRig } from "../support/client.ts";

const token = "canary-4f2/9c81+d";
const options = { credential: bearerToken(token) };
const json = { "content-type": "application/json" };
const entity = { rel: "entity", body: { name: "Lupine" } };
const allSpellings = [token, encodeURIComponent(token), btoa(token)];

test.each([
  ["as a name", { ...entity, body: { name: `for ${token}` } }],
  ["as a key", { ...entity, body: { [token]: 1 } }],
  ["in a link", { ...entity, links: { next: `/?token=${encodeURIComponent(token)}` } }],
  ["in base64", { ...entity, body: { session: btoa(`7:${token}`) } }],
])("a body that repeats the credential %s is refused at once as a whole", async (_where, body) => {
  await using rig = await startClientRig((_, socket) => socket.write(jsonResponse(body)), options);
  const failure = await failureOf(rig.fetch("/me/"));
  expect(failure).toMatchObject({
    code: "repeats-credential",
    next: "skip",
    status: 200,
    message: `${rig.server.origin}/me/: the response repeats the credential`,
  });
  const shown = `${failure.stack} ${failure.hint} ${JSON.stringify(failure)}`;
  expect(allSpellings.filter((spelling) => shown.includes(spelling))).toEqual([]);
  expect(rig.server.requests).toHaveLength(1);
});

test("a compressed body is searched too", async () => {
  const body = gzipSync(JSON.stringify({ ...entity, note: token }));
  await using rig = await startClientRig(
    (_, socket) => socket.write(rawResponse(200, { ...json, "content-encoding": "gzip" }, body)),
    options,
  );
  expect(await failureOf(rig.fetch("/me/"))).toMatchObject({ code: "repeats-credential" });
});

test.each([
  ["cut short", "gzip", (packed: Buffer) => packed.subarray(0, -4), 200, "incomplete-body"],
  ["cut short", "gzip", (packed: Buffer) => packed.subarray(0, -4), 404, "not-the-api"],
  ["encoded as was not offered", "deflate", deflateSync, 200, "encoding-refused"],
  ["encoded twice", "gzip, gzip", gzipSync, 200, "encoding-refused"],
  ["too large", "gzip", () => gzipSync(`${token}${" ".repeat(2 ** 25)}`), 200, "too-large"],
  ["too large", "gzip", () => gzipSync(`${token}${" ".repeat(2 ** 25)}`), 403, "not-the-api"],
])("no byte of a body that is %s leaves the transport", async (_, encoding, change, status, code) => {
  const body = change(gzipSync(JSON.stringify({ ...entity, note: token })));
  await using rig = await startClientRig(
    (_, socket) => socket.write(rawResponse(status, { ...json, "content-encoding": encoding }, body)),
    options,
  );
  const { origin } = rig.server;
  const pool = { ...options, limits: defaultLimits, connections: 1 };
  const transport = openServiceTransport(origin, pool);
  const { wire } = await transport.send({ url: `${origin}/me/`, condition: [], signal: undefined });
  await transport.close();
  expect(wire?.length ?? 0).toBeLessThanOrEqual(1);
  expect(await failureOf(rig.fetch("/me/"))).toMatchObject({ code, status });
});

test("an ETag that repeats the credential is ignored, and the body is accepted", async () => {
  await using rig = await startClientRig(
    (_, socket) => socket.write(jsonResponse(entity, { etag: `"${token}"`, "x-user": token })),
    options,
  );
  expect(await rig.fetch("/me/")).toMatchObject({ outcome: "body", etag: null });
});

test("a redirect whose address repeats the credential is not followed", async () => {
  const escaped = token.replace(/./g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  for (const location of [`/other?t=${token}`, `/other?t=${escaped}`, `http://other.example/${token}`]) {
    await using rig = await startClientRig(
      (_, socket) => socket.write(rawResponse(302, { location })),
      options,
    );
    const failure = await failureOf(rig.fetch("/me/"));
    expect(failure.message).toBe(
      `${rig.server.origin}/me/: the address of the redirect repeats the credential`,
    );
    expect(rig.server.requests).toHaveLength(1);
  }
});

test("a content type that repeats the credential is not shown", async () => {
  await using rig = await startClientRig(
    (_, socket) => socket.write(rawResponse(200, { "content-type": "text/canary-4f29c81d" }, "hi")),
    { credential: bearerToken("canary-4f29c81d") },
  );
  const failure = await failureOf(rig.fetch("/me/"));
  expect(failure).toMatchObject({ code: "not-the-api" });
  expect(failure.message).not.toContain("canary");
});

test("the body of an error keeps its meaning, and its message is shown without the credential", async () => {
  const refusal = gzipSync(JSON.stringify({ message: `Not authenticated: ${token} has ended` }));
  await using rig = await startClientRig(({ path }, socket) => {
    if (path === "/me/")
      return socket.write(rawResponse(400, { ...json, "content-encoding": "gzip" }, refusal));
    if (path === "/gone/") return socket.write(jsonResponse({ message: `no ${token}` }, {}, 404));
    return socket.write(jsonResponse({ message: `Bad "${token}"` }, {}, 400));
  }, options);
  expect(await failureOf(rig.fetch("/me/"))).toMatchObject({ code: "not-authenticated" });
  expect((await rig.fetch("/gone/")).outcome).toBe("gone");
  expect((await failureOf(rig.fetch("/bad/"))).message).toContain('“Bad "[credential]"”');
});

test("an error that repeats the credential in escapes is refused", async () => {
  const escaped = token.replace(/./g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  await using rig = await startClientRig(
    (_, socket) => socket.write(rawResponse(404, json, `{"message":"${escaped}"}`)),
    options,
  );
  expect(await failureOf(rig.fetch("/me/"))).toMatchObject({ code: "repeats-credential", next: "skip" });
});

test("a word of fewer than eight characters is accepted in a body, even if it is the token", async () => {
  await using rig = await startClientRig((_, socket) => socket.write(jsonResponse(entity)), {
    credential: bearerToken("Lupine"),
  });
  expect((await rig.fetch("/me/")).outcome).toBe("body");
});
