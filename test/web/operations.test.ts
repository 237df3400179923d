/** The page for operators, with a real Redis, workers and coordinators. */
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { connectRedis } from "../../jobs/bullmq/redis.ts";
import { openRunJob } from "../../jobs/bullmq/runs/run-job.ts";
import { openRunQueue } from "../../jobs/bullmq/runs/run-queue.ts";
import { runScheduler } from "../../jobs/bullmq/scheduler.ts";
import packageJson from "../../package.json" with { type: "json" };
import { systemClock } from "../../src/platform/clock.ts";
import { bearerToken } from "../../src/service/credentials/credential.ts";
import { createServer } from "../../src/web/server.ts";
import type { WebServer } from "../../src/web/start-servers.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { catalogueAt, startFetchWorkers } from "../support/workers.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";
import { checkPage, launchBrowser, sound, watchPage } from "./support/browser.ts";
import { linksIn, openSession, openStream, send } from "./support/web-rig.ts";

let redis: RedisServer;
let rig: Rig;
let worker: AsyncDisposable;
let server: WebServer;
let cookie: string;
/** A catalogue of which two models cannot be fetched, and the account of a user, synced by the same worker. */
beforeAll(async () => {
  redis = await startRedis();
  rig = await startRig({
    ...{ brands: 3, models: 8, sizes: 20, allowance: 90, users: 1 },
    faults: [
      { kind: "model", positions: [1], fault: "status", status: 400 },
      { kind: "model", positions: [3], fault: "status", status: 500, times: "always" },
    ],
  });
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  const { url } = rig.sandbox;
  worker = await startFetchWorkers(1, {
    redis: redis.url,
    principals: [catalogueAt(url), { name: "ada", baseUrl: url, credential }],
  });
  await rig.sync({ workers: { redis: redis.url } });
  await rig.sync({
    ...{ file: `${rig.file}.account`, area: "account", credential },
    workers: { redis: redis.url, principal: "ada" },
  });
  server = await createServer({ findCatalogue: () => rig.file, port: 0, redis: redis.url });
  cookie = await openSession(server);
});
afterAll(async () => {
  await server.close();
  await worker[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
  await redis[Symbol.asyncDispose]();
});

const get = async (path: string, headers: Record<string, string> = {}) =>
  await send(server, path, { headers });
const textOf = (html: string) => html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");

it("failed resources are grouped by reason, with their addresses, and all are in the downloads", async () => {
  const { status, headers, body } = await get("/operations");
  expect([status, headers["cache-control"]]).toEqual([200, "no-store"]);
  const groups = [...body.matchAll(/<summary>(<bdi>.*?)<\/summary>/g)].map(([, text = ""]) => textOf(text));
  expect(groups.map((text) => text.trim()).sort()).toEqual([
    "server-error: answered 500 1 resource",
    "unexpected-status: answered 400 1 resource",
  ]);
  expect(textOf(body)).toContain("“ Something went wrong ”");
  expect(textOf(body)).toContain("incomplete, 2 failed resources");
  const document = JSON.parse((await get("/operations.json")).body);
  expect(document.failures[0]).toMatchObject({ message: "Something went wrong" });
  const failed = rig.read(({ db }) => db.prepare("select url from _resource where state = 'failed'").all());
  for (const { url } of failed as { url: string }[]) {
    expect(body).toContain(url);
    expect(JSON.stringify(document.failures)).toContain(url);
    expect((await get("/operations.csv")).body).toContain(url);
  }
});

it("workers are shown with host, version, whether their credential is accepted, and their last job", async () => {
  await expect
    .poll(async () => {
      const { workers } = JSON.parse((await get("/operations.json", { cookie })).body);
      return workers[0]?.principals;
    })
    .toMatchObject([
      { name: "catalogue", credential: "none", acceptsJobs: true, lastJob: { kind: expect.any(String) } },
      { name: "ada", credential: "accepted", lastJob: { kind: expect.any(String), label: null } },
    ]);
  const { body } = await get("/operations");
  expect(textOf(body)).toContain(`process ${process.pid}`);
  expect(body).toContain(`<td class="minor" role="cell" data-label="Version">${packageJson.version}</td>`);
});

it("runs, workers and allowances of accounts need the key, and nothing else of a person is shown with it", async () => {
  const without = await get("/operations");
  expect(without.body).not.toMatch(/\bada\b|\bbra\b|measurement/);
  expect(textOf(without.body)).toMatch(/[23] lines of accounts: shown with the key/);
  expect(linksIn(without.body)).toContain("/session?next=/operations");
  const withKey = await get("/operations", { cookie });
  expect(withKey.body).toContain("<bdi>ada</bdi>");
  const document = (await get("/operations.json", { cookie })).body;
  const { me, ...urls } = rig.read(() => ({ me: `${rig.sandbox.url}me`, bras: `${rig.sandbox.url}me/bras` }));
  for (const url of [me, ...Object.values(urls)]) expect(document).not.toContain(url);
});

it("the allowance of today and the last runs are those that coordinators have published", async () => {
  const { runs, allowances } = JSON.parse((await get("/operations.json")).body);
  expect(allowances).toMatchObject([{ principal: "catalogue", limit: 90 }]);
  const [counted] = rig.read(({ db }) =>
    db.prepare("select counts_json ->> '$.requests.counted' from _run").pluck().all(),
  );
  expect(runs).toMatchObject([{ principal: "catalogue", state: "ended", run: 1, counted }]);
  expect(allowances[0].remaining).toBe(90 - Number(counted));
});

it("a run under way has its progress by kind, what is left, and until when", async () => {
  const { client, end } = await connectRedis(redis.url);
  const principal = catalogueAt("http://other.example/");
  const job = openRunJob({
    ...{ client, queue: openRunQueue({ client, shownAs: "", end }, principal), name: "sync catalogue" },
    ...{ data: { run: 7, mode: "verify" }, clock: systemClock },
  });
  const progress = {
    ...{
      progress: 25,
      held: 5,
      due: 15,
      counted: 5,
      allowanceLeft: 85,
      estimatedEnd: "2099-01-01T00:00:00.000Z",
    },
    kinds: [{ kind: "model", held: 3, known: 11 }],
  };
  await expect
    .poll(async () => {
      job.update(() => progress);
      return textOf((await get("/operations")).body);
    })
    .toMatch(
      /catalogue at http:\/\/other\.example, run 7, verify model 3 of 11 .*counted 5 due 15 left of the allowance 85 ends about 2099-01-01/,
    );
  await job.end({ status: "failed", reason: "the service <is> gone" });
  await expect.poll(async () => (await get("/operations")).body).toContain("the service &lt;is&gt; gone");
  end();
});

it("schedules are shown with their next and last runs and what these reported", async () => {
  const connection = await connectRedis(redis.url);
  const stop = new AbortController();
  const { promise: hasRun, resolve } = Promise.withResolvers<void>();
  const run = (name: string, area: "catalogue" | "account") => ({
    ...{ id: `${name}.1`, name, command: "sync", area, queue: name, cron: "0 6 * * *", tz: "UTC" },
    missed: name === "nightly" ? 1 : null,
    nextAfter: () => Date.UTC(2099, 0, 1),
  });
  const running = runScheduler({
    ...{ redis: connection, clock: systemClock, pollMillis: 50, signal: stop.signal },
    runs: () => [run("nightly", "catalogue"), run("of-ada", "account")],
    execute: async () => {
      resolve();
      return { exitCode: 0, seconds: 61, counts: { changed: 4, gone: 0 } };
    },
    onReady: () => {},
    onWarning: () => {},
  });
  await hasRun;
  await expect
    .poll(async () => JSON.parse((await get("/operations.json")).body).schedules)
    .toMatchObject([
      { name: "nightly", nextAt: Date.UTC(2099, 0, 1), runs: [{ state: "done", counts: { changed: 4 } }] },
    ]);
  expect(textOf((await get("/operations")).body)).toContain("done 4 changed");
  expect((await get("/operations", { cookie })).body).toContain("of-ada");
  stop.abort();
  await running;
  connection.end();
});

it("without a Redis there is no such page, and while it does not respond the page says so", async () => {
  const without = await createServer({ findCatalogue: () => rig.file, port: 0 });
  for (const path of ["/operations", "/queues"]) expect((await send(without, path)).status).toBe(404);
  expect(linksIn((await send(without, "/runs")).body)).not.toContain("/operations");
  await without.close();
  await using own = await startRedis();
  const other = await createServer({ findCatalogue: () => rig.file, port: 0, redis: own.url });
  expect((await send(other, "/operations")).status).toBe(200);
  const empty = await createServer({ findCatalogue: () => null, port: 0, redis: own.url });
  const { body: withoutMirror } = await send(empty, "/operations");
  expect(withoutMirror).toContain("No worker is there.");
  expect(withoutMirror).not.toContain("Nothing is held yet");
  expect(JSON.parse((await send(empty, "/operations.json")).body)).toMatchObject({ workers: [] });
  await empty.close();
  await own.kill();
  const { status, body } = await send(other, "/operations");
  expect([status, body.includes("Redis does not respond")]).toEqual([503, true]);
  expect((await send(other, "/brands")).status).toBe(200);
  await other.close();
});

it("a Redis that cannot be reached ends the start of the server", async () => {
  await expect(
    createServer({ findCatalogue: () => rig.file, port: 0, redis: "redis://127.0.0.1:1" }),
  ).rejects.toMatchObject({ name: "RedisError", code: "unreachable" });
});

it("Bull Board needs the key, has a policy of its own, and shows the jobs without proofs and bodies", async () => {
  for (const path of ["/queues", "/queues/", "/queues/api/queues"])
    expect((await get(path)).status).toBe(403);
  const page = await get("/queues", { cookie });
  expect(page.status).toBe(200);
  expect(page.headers["content-security-policy"]).toMatch(/default-src 'none'; script-src 'self'/);
  expect(page.body).not.toContain("fonts.googleapis");
  const [queue = ""] = (
    JSON.parse((await get("/queues/api/queues", { cookie })).body).queues as { name: string }[]
  )
    .map(({ name }) => name)
    .filter((name) => name.startsWith("fetch-catalogue"));
  const { body } = await get(`/queues/api/queues?activeQueue=${encodeURIComponent(queue)}`, { cookie });
  expect(body).toMatch(/"name":"size {2}[^"]+ › /);
  expect(body).not.toMatch(/credentialProof|coordinatorId/);
});

it("Bull Board changes nothing, and with allowed actions only what its own pages ask", async () => {
  const origin = server.url.slice(0, -1);
  const pause = (to: WebServer, headers: Record<string, string>) =>
    send(to, "/queues/api/queues/pause", { method: "PUT", headers });
  expect((await pause(server, { origin, cookie })).status).toBe(405);
  const acting = await createServer({
    ...{ findCatalogue: () => rig.file, port: 0, redis: redis.url, allowsActions: true },
  });
  const [own, session] = [acting.url.slice(0, -1), await openSession(acting)];
  expect((await pause(acting, { origin: "http://evil.example", cookie: session })).status).toBe(403);
  expect((await pause(acting, { origin: own })).status).toBe(403);
  const add = { method: "POST", headers: { origin: own, cookie: session } };
  expect((await send(acting, "/queues/api/queues/q/add", add)).body).toContain("no sync has reserved");
  expect((await send(acting, "/brands", add)).status).toBe(405);
  expect((await pause(acting, { origin: own, cookie: session })).status).toBe(200);
  await send(acting, "/queues/api/queues/resume", {
    method: "PUT",
    headers: { origin: own, cookie: session },
  });
  await acting.close();
});

it("with another host, the pages, the board and the events need the key", async () => {
  const other = await createServer({
    ...{ findCatalogue: () => rig.file, port: 0, host: "0.0.0.0", redis: redis.url },
  });
  const paths = ["/operations", "/operations.json", "/queues", "/events/mirror", "/events/shared"];
  for (const path of paths) expect([path, (await send(other, path)).status]).toEqual([path, 403]);
  const url = `http://127.0.0.1:${new URL(other.url).port}/`;
  const session = await openSession({ url, key: other.key });
  for (const path of paths.slice(3)) {
    const { sent, response } = await openStream(other, path, { cookie: session });
    expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "text/event-stream"]);
    sent.destroy();
  }
  await other.close();
});

it("in a browser, the page is accessible and Bull Board works within its policy", async () => {
  const browser = await launchBrowser(inject("chromium"));
  try {
    const watched = await watchPage(browser, server.url);
    const { page, mishaps } = watched;
    const { href } = new URL("/operations", server.url);
    expect(await checkPage(watched, href, 2)).toEqual(sound(href));
    // A refusal would be an error in the console.
    const response = await page.goto(`${server.url}queues#key=${server.key}`);
    expect(response?.status()).toBe(200);
    await page.getByText("fetch: catalogue").first().waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/queues/);
    expect(await page.evaluate("policyViolations")).toEqual([]);
    expect(mishaps).toEqual([]);
    expect(await checkPage(watched, href, 2)).toEqual(sound(href));
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await page.evaluate(hiddenValues)).toEqual([]);
  } finally {
    await browser.close();
  }
});

/** On a narrow screen: what is left out of tables of long texts, or lies beyond their edge. */
const hiddenValues = `[...document.querySelectorAll(".stacked td")].filter((cell) => {
  const { width, right } = cell.getBoundingClientRect();
  return cell.closest("details:not([open])") === null && (width === 0 || right > innerWidth);
}).map((cell) => cell.textContent)`;
