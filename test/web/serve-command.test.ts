/** `armoire serve` as a process: what it prints, and how it ends. */
import { once } from "node:events";
import { existsSync, globSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callArmoire, runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 2, models: 6, sizes: 20 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

it("prints its address, opens the browser there, serves, and ends with exit code 0 at Ctrl-C", async () => {
  await using folder = await temporaryFolder();
  const opened = join(folder.path, "opened");
  const env = await withBrowser(folder.path, `echo "$@" > '${opened}.new' && mv '${opened}.new' '${opened}'`);
  const running = startArmoire(["serve", "--mirror", rig.file, "--port", "0", "--open", "--json"], { env });
  const [line] = await once(running.process.stdout, "data");
  const { pages, api, key } = JSON.parse(String(line));
  expect(key).toBe(null);
  await expect.poll(() => existsSync(opened)).toBe(true);
  expect(await readFile(opened, "utf8")).toBe(`${pages}\n`);
  expect(await (await fetch(new URL("/brands.json", pages))).json()).toHaveLength(2);
  expect(await (await fetch(api)).json()).toMatchObject({ links: { brands: `${api}brands/` } });
  running.process.kill("SIGINT");
  expect(await running.result).toMatchObject({ exitCode: 0, stderr: "" });
});

/** Finds this script under the names of the programs that open addresses. */
async function withBrowser(folder: string, script: string) {
  for (const name of ["xdg-open", "open"])
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: [folder, process.env.PATH].join(delimiter) };
}

it("the code that draws charts is loaded with the first page that has a chart, and not before", async () => {
  const pages = ["brands", "models", "search?q=a", "changes", "runs", "schedules", "questions", "tables"];
  expect(await functionsAfter(pages)).not.toContain("drawChart");
  expect(await functionsAfter([""])).toContain("drawChart");
});

/** The names of all functions that a server has loaded when it ends after these pages. */
async function functionsAfter(pages: readonly string[]): Promise<string[]> {
  await using folder = await temporaryFolder();
  const env = { NODE_V8_COVERAGE: folder.path };
  const running = startArmoire(["serve", "--mirror", rig.file, "--port", "0", "--json"], { env });
  const [line] = await once(running.process.stdout, "data");
  for (const page of pages)
    expect((await fetch(new URL(page, JSON.parse(String(line)).pages))).status).toBe(200);
  running.process.kill("SIGINT");
  expect(await running.result).toMatchObject({ exitCode: 0 });
  const reports = globSync("*.json", { cwd: folder.path }).map(
    (name): Coverage => JSON.parse(readFileSync(join(folder.path, name), "utf8")),
  );
  return reports.flatMap(({ result }) =>
    result.flatMap(({ functions }) => functions.map((one) => one.functionName)),
  );
}

/** What Node.js writes when a process ends. */
interface Coverage {
  readonly result: readonly { readonly functions: readonly { readonly functionName: string }[] }[];
}

it("a port in use is one clear line", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { exitCode, stderr } = await runArmoire([
    "serve",
    "--mirror",
    rig.file,
    "--port",
    String(port),
    "--api-port",
    "0",
  ]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`Cannot listen on 127.0.0.1 port ${port}`);
  expect(stderr).toContain("Choose another --port, or 0 for any free one.");
  other.close();
});

it("the plan knows the allowance, and the API has the account for the printed token, limits, and its pages' origin", async () => {
  await using folder = await temporaryFolder();
  const env = { ARMOIRE_TOKEN: rig.sandbox.users[0]?.token ?? "", ARMOIRE_BASE_URL: rig.sandbox.url };
  const common = ["--data-dir", folder.path];
  for (const args of [
    ["sync", "--depth", "brands"],
    ["account", "add", "ada"],
  ])
    expect(await callArmoire([...args, ...common, "--base-url", rig.sandbox.url], { env })).toMatchObject({
      exitCode: 0,
    });
  expect(await callArmoire(["sync", "--account", "ada", ...common])).toMatchObject({ exitCode: 0 });
  const flags = ["--port", "0", "--allowance", "2", "--window", "60", "--cors", "http://localhost:5173"];
  const running = startArmoire(["serve", "--account", "ada", "--json", ...flags, ...common]);
  const [line] = await once(running.process.stdout, "data");
  const { pages, api, key } = JSON.parse(String(line));
  const { allowance } = JSON.parse((await callArmoire(["plan", "--json", ...common])).stdout);
  expect(allowance).toMatchObject({ remaining: expect.any(Number) });
  expect(await (await fetch(new URL("/plan.json", pages))).json()).toMatchObject({ allowance });
  const get = (path: string, headers = {}) => fetch(new URL(path, api), { headers });
  expect((await get("me/")).status).toBe(401);
  const authorization = `bearer ${key}`;
  const me = await get("me/", { authorization, origin: "http://localhost:5173" });
  expect(await me.json()).toMatchObject({ body: { username: rig.sandbox.users[0]?.username } });
  expect(Object.fromEntries(me.headers)).toMatchObject({
    "access-control-allow-origin": "http://localhost:5173",
    "x-ratelimit-limit": "2",
    "x-ratelimit-remaining": "1",
  });
  // The refusal above was counted too, for everybody without the token.
  expect((await get("brands/")).status).toBe(200);
  expect((await get("brands/")).status).toBe(403);
  running.process.kill("SIGINT");
  expect(await running.result).toMatchObject({ exitCode: 0, stderr: "" });
  // Without the account there is no key.
  const file = join(folder.path, "accounts/ada/mirror.sqlite");
  const refused = await runArmoire(["serve", "--mirror", file, "--port", "0", ...common]);
  expect(refused).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining("of an account, not of a catalogue"),
  });
});

it("the key of a removed account opens no later account of its name", async () => {
  await using folder = await temporaryFolder();
  await using users = await startRig({ brands: 2, models: 3, sizes: 5, users: 2 });
  const common = ["--data-dir", folder.path];
  const addAda = async (user: number) => {
    const env = { ARMOIRE_TOKEN: users.sandbox.users[user]?.token ?? "" };
    const add = ["account", "add", "ada", "--base-url", users.sandbox.url, ...common];
    expect(await callArmoire(add, { env })).toMatchObject({ exitCode: 0 });
    expect(await callArmoire(["sync", "--account", "ada", ...common])).toMatchObject({ exitCode: 0 });
  };
  await addAda(0);
  const running = startArmoire(["serve", "--account", "ada", "--json", "--port", "0", ...common]);
  const [line] = await once(running.process.stdout, "data");
  const { api, key } = JSON.parse(String(line));
  const getMe = () => fetch(new URL("me/", api), { headers: { authorization: `bearer ${key}` } });
  expect((await getMe()).status).toBe(200);
  const remove = ["account", "remove", "ada", "--purge", "--yes", ...common];
  expect(await callArmoire(remove)).toMatchObject({ exitCode: 0 });
  await addAda(1);
  expect((await getMe()).status).not.toBe(200);
  running.process.kill("SIGINT");
  expect(await running.result).toMatchObject({ exitCode: 0 });
});

it("wrong options of the API are one clear line", async () => {
  const serve = (...args: readonly string[]) => callArmoire(["serve", "--mirror", rig.file, ...args]);
  expect(await serve("--window", "60")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("--window needs --allowance"),
  });
  for (const origin of ["http://localhost:5173/", "localhost", "null"])
    expect((await serve("--cors", origin)).stderr).toContain("It must be an origin such as");
});
