/** The administration under `/__sandbox/`, which offers the sandbox's methods to other processes. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { send } from "./support/client.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({ allowance: 5 });
});
afterEach(() => sandbox.close());

const admin = async (
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; json: unknown }> => {
  const options = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const { status, bytes } = await send(`${sandbox.url}__sandbox/${path}`, options);
  return { status, json: JSON.parse(bytes.toString()) };
};

it("truth is sent as one JSON line per resource", async () => {
  const { headers, bytes } = await send(`${sandbox.url}__sandbox/truth`);
  expect(headers["content-type"]).toBe("application/x-ndjson");
  const lines = bytes.toString().trimEnd().split("\n");
  expect(lines).toEqual([...sandbox.truth()].map((record) => JSON.stringify(record)));
  const all = (await send(`${sandbox.url}__sandbox/truth?optional=1`)).bytes.toString().trimEnd().split("\n");
  expect(all).toHaveLength([...sandbox.truth({ optional: true })].length);
  expect(all.length).toBeGreaterThan(lines.length);
});

it("truth contains the exact bytes of bodies", async () => {
  for (const { url, body } of [...sandbox.truth()].slice(0, 4)) {
    expect((await send(url)).bytes.toString()).toBe(JSON.stringify(body));
  }
});

it("the log contains requests and marks retries after a fault", async () => {
  sandbox.setFaults([{ kind: "brands", fault: "status" }]);
  const url = `${sandbox.url}brands/`;
  await send(url);
  const { headers } = await send(url);
  await send(url, { headers: { "If-None-Match": headers.etag ?? "" } });
  const { json } = await admin("GET", "log");
  expect(json).toEqual(sandbox.log());
  const common = { time: expect.any(String), method: "GET", url, credential: "none" };
  expect(json).toEqual([
    { ...common, n: 1, status: 503, counted: true, conditional: false, fault: "status" },
    { ...common, n: 2, status: 200, counted: true, conditional: false, attemptOf: 1 },
    { ...common, n: 3, status: 304, counted: false, conditional: true },
  ]);
  expect((await admin("GET", "log?since=2")).json).toMatchObject([{ n: 3 }]);
  await admin("DELETE", "log");
  expect((await admin("GET", "log")).json).toEqual([]);
  await send(url);
  expect((await admin("GET", "log?since=3")).json).toMatchObject([{ n: 4 }]);
});

it("administration requests are neither counted nor logged", async () => {
  for (let count = 0; count < 10; count++) expect((await admin("GET", "log")).status).toBe(200);
  expect(sandbox.log()).toEqual([]);
  expect((await send(`${sandbox.url}brands/`)).headers["x-ratelimit-remaining"]).toBe("4");
});

it("the clock moves by seconds or to a time", async () => {
  const { json } = await admin("POST", "clock", { now: "2030-01-01T00:00:00Z" });
  expect(json).toEqual({ now: "2030-01-01T00:00:00.000Z" });
  await admin("POST", "clock", { advanceSeconds: 86_400 });
  expect(sandbox.now().toISOString()).toMatch(/^2030-01-02T00:00:/);
});

it("advance reports changes with the URLs of the client's host", async () => {
  await using twin = await startSandbox({ allowance: 5 });
  const { json } = await admin("POST", "advance", { changes: 2 });
  const text = JSON.stringify(twin.advance({ changes: 2 }));
  expect(JSON.stringify(json)).toBe(text.replaceAll(twin.url, sandbox.url));
  expect((await admin("POST", "advance")).json).toMatchObject({ step: 2 });
});

it("faults can be replaced", async () => {
  await admin("PUT", "faults", [{ kind: "root", fault: "status", status: 500 }]);
  expect((await send(sandbox.url)).status).toBe(500);
  await admin("PUT", "faults", []);
  expect((await send(sandbox.url)).status).toBe(200);
  expect((await admin("PUT", "faults", "flaky")).status).toBe(200);
});

describe("invalid requests", () => {
  it.each([
    ["POST", "clock", {}],
    ["POST", "clock", { advanceSeconds: "1" }],
    ["POST", "clock", { now: "soon" }],
    ["POST", "advance", { changes: -1 }],
    ["POST", "advance", { deletions: 1 }],
    ["PUT", "faults", [{ fault: "no such fault" }]],
    ["PUT", "faults", "no such preset"],
  ])("%s %s %j is refused", async (method, path, body) => {
    expect(await admin(method, path, body)).toMatchObject({
      status: 400,
      json: { message: expect.stringMatching(/^(clock|advance|faults).*: .+$/) },
    });
  });

  it("an error names the problem in the closest allowed form", async () => {
    const response = await admin("PUT", "faults", [{ kind: "root", fault: "no such fault" }]);
    expect(response.json).toMatchObject({ message: expect.stringMatching(/^faults 0\.fault: /) });
    expect((await admin("POST", "clock", { days: 1 })).json).not.toEqual({ message: "clock: Invalid input" });
  });

  it("unknown paths and methods are refused", async () => {
    for (const [method, path] of [
      ["GET", "nothing"],
      ["GET", "advance"],
      ["POST", "constructor"],
      ["GET", ""],
    ] as const) {
      expect((await admin(method, path)).status).toBe(404);
    }
  });

  it("a body that is not JSON is refused", async () => {
    expect((await send(`${sandbox.url}__sandbox/advance`, { method: "POST", body: "{" })).status).toBe(400);
  });
});
