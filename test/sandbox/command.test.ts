/** `armoire sandbox` as a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { callArmoire } from "../support/run-armoire.ts";
import { bearer, getEnvelope, linkOf, send } from "./support/client.ts";

const program = fileURLToPath(new URL("../../src/cli/armoire.js", import.meta.url));
const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
});

function armoire(...args: string[]): {
  child: ChildProcess;
  firstOutput: Promise<string>;
  ended: Promise<Ending>;
} {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let out = "";
  let err = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (err += text));
  const result = once(child, "close").then(([code]) => ({ code: code as number | null, out, err }));
  const firstOutput = Promise.race([
    once(child.stdout, "data").then(() => out),
    result.then((ending) => ending.err),
  ]);
  return { child, firstOutput, ended: result };
}

interface Ending {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

it("a sandbox prints its URL and users and serves until it is stopped", async () => {
  const {
    child,
    firstOutput,
    ended: result,
  } = armoire("sandbox", "--json", "--users", "2", "--brands", "3", "--service-name", "other");
  const described = z
    .object({
      url: z.url(),
      users: z.array(z.object({ token: z.string(), scopes: z.array(z.string()) })).length(2),
    })
    .parse(JSON.parse(await firstOutput));
  const root = await getEnvelope(described.url);
  expect((await getEnvelope(linkOf(root, "brands"))).meta.collection_total).toBe(3);
  const me = await getEnvelope(linkOf(root, "me"), bearer(described.users[0]?.token));
  expect(me.body).toHaveProperty("other_url");
  child.kill("SIGTERM");
  expect(await result).toMatchObject({ code: 0, err: "" });
});

it("the text output starts with the base URL", async () => {
  const {
    child,
    firstOutput,
    ended: result,
  } = armoire("sandbox", "--layout", "opaque", "--pagination", "cursor", "--faults", "flaky");
  const text = await firstOutput;
  const [url = "", totals] = text.split("\n");
  expect(totals?.trim()).toBe("12 brands, 60 models, 300 sizes");
  expect(text).toMatch(/user anna {2}sandbox-token-[0-9a-f]{40} {2}\(identity email bras measurements\)/);
  expect(linkOf(await getEnvelope(url), "brands")).toMatch(/\/r\/[0-9a-f]{16}\/$/);
  child.kill("SIGINT");
  expect((await result).code).toBe(0);
});

it.each([
  [["--port", "x"], "whole number"],
  [["--port", "70000"], "port"],
  [["--preset", "huge"], "small, real"],
  [["--layout", "round"], "plain, opaque"],
  [["--faults", "/nonexistent.json"], "/nonexistent.json"],
  [["--brands", "0"], "brands"],
  [["--nothing"], "--nothing"],
])("the sandbox command refuses %j with exit code 2", async (args, message) => {
  const { exitCode, stderr, stdout } = await callArmoire(["sandbox", ...args]);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).not.toContain("    at ");
});

it("a used port gives a one-line error", async () => {
  const first = armoire("sandbox", "--json");
  const { port } = new URL(z.object({ url: z.url() }).parse(JSON.parse(await first.firstOutput)).url);
  const { code, err } = await armoire("sandbox", "--port", port).ended;
  expect(code).toBe(1);
  expect(err).toContain(`port ${port}`);
  expect(err.trim().split("\n").length).toBeLessThanOrEqual(3);
});

it.each([
  [[], "1000000"],
  [["--allowance", "7"], "7"],
  [["--allowance", "none"], null],
])("a sandbox with %j prints an allowance of %s", async (flags, limit) => {
  const { firstOutput } = armoire("sandbox", "--json", "--brands", "1", ...flags);
  const { url } = z.object({ url: z.url() }).parse(JSON.parse(await firstOutput));
  expect((await send(url)).headers["x-ratelimit-limit"] ?? null).toBe(limit);
});
