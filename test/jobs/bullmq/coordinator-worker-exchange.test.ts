/**
 * Coordinators and workers over a real Redis: each request gets one response, from a worker with the right
 * credential. Most tests wait for Redis, so they run at the same time, each with its own.
 */
import { Worker } from "bullmq";
import fc from "fast-check";
import { it } from "vitest";
import { outOfMemoryMessage } from "../../../jobs/bullmq/errors.ts";
import type { FetchPayload } from "../../../jobs/bullmq/protocol.ts";
import { fetchQueueName, keyPrefix, payloadVersion } from "../../../jobs/bullmq/queue-names.ts";
import { connectRedis } from "../../../jobs/bullmq/redis.ts";
import { runWorker } from "../../../jobs/bullmq/worker/run-worker.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { jsonResponse, startRawServer } from "../../support/raw-server.ts";
import { watchCommands } from "../../support/redis.ts";
import { tries } from "../../support/thorough.ts";
import { type BullmqRig, describeAny, principal, responseOf, startBullmqRig } from "../support/bullmq-rig.ts";

const requestFor = (path: string, signal?: AbortSignal) => ({
  url: new URL(path, principal.baseUrl).href,
  condition: ["if-none-match", '"x"'],
  signal,
});
const textOf = ({ wire }: { wire: Uint8Array | null }) => wire && new TextDecoder().decode(wire);

/** A worker that sends nothing and whose jobs are ended by the test. */
async function startSilentWorker(
  rig: BullmqRig,
  onJob: (payload: FetchPayload) => Promise<void>,
): Promise<AsyncDisposable> {
  const { client, end } = await connectRedis(rig.redis.url);
  const worker = new Worker(rig.requestQueue.name, async ({ data }) => await onJob(data as FetchPayload), {
    connection: client,
    prefix: keyPrefix,
    concurrency: 64,
  });
  worker.on("error", () => {});
  return {
    async [Symbol.asyncDispose]() {
      await worker.close(true);
      end();
    },
  };
}

it.concurrent("each request gets its own response once, however often and in whatever order responses arrive", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.nat()),
      async (numbers, random) => {
        const received: FetchPayload[] = [];
        const allReceived = Promise.withResolvers<void>();
        const allSent = Promise.withResolvers<void>();
        await using _worker = await startSilentWorker(rig, async (payload) => {
          received.push(payload);
          if (received.length === numbers.length) allReceived.resolve();
          // As for any worker: a job that has ended, and whose response is not there after a second or two, counts as lost.
          await allSent.promise;
        });
        const responses = Promise.all(numbers.map((n) => transport.send(requestFor(`${n}`))));
        await allReceived.promise;
        const shuffled = [...received, ...received, ...received]
          .map((payload) => ({ payload, order: random.next().value }))
          .sort((a, b) => a.order - b.order);
        for (const { payload } of shuffled) await rig.respond(payload, responseOf(payload.url));
        allSent.resolve();
        expect((await responses).map(textOf)).toEqual(numbers.map((n) => requestFor(`${n}`).url));
        // The next worker would get unfinished jobs again.
        await expect.poll(() => rig.requestQueue.getActiveCount()).toBe(0);
      },
    ),
    { numRuns: tries(4, 50) },
  );
});

it.concurrent("a response arrives with every byte and the headers that the client reads", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const bytes = Uint8Array.from({ length: 512 }, (_, n) => n % 256);
  const headers = { etag: 'W/"é"', "set-cookie": "session=1", "x-ratelimit-remaining": "7" };
  await rig.startWorker(async () => responseOf(bytes, 203, headers));
  const transport = await rig.startCoordinator();
  expect(await transport.send(requestFor("a"))).toEqual({
    head: {
      status: 203,
      headers: { "content-type": "application/json", etag: 'W/"é"', "x-ratelimit-remaining": "7" },
    },
    wire: bytes,
    failure: null,
  });
});

it.concurrent("a response that arrives after its request was cancelled is dropped", async ({ expect }) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const cancel = new AbortController();
  const started = Promise.withResolvers<FetchPayload>();
  {
    await using _worker = await startSilentWorker(rig, async (payload) => started.resolve(payload));
    const cancelled = transport.send(requestFor("a", cancel.signal));
    const payload = await started.promise;
    await expect.poll(() => rig.requestQueue.getActiveCount()).toBe(0);
    cancel.abort(new Error("enough"));
    await expect(cancelled).rejects.toThrow("enough");
    await rig.respond(payload, responseOf("late"));
  }
  await rig.startWorker(async () => responseOf("now"));
  expect(textOf(await transport.send(requestFor("a")))).toBe("now");
});

it.concurrent("a job of another payload version is postponed with a warning, and other jobs continue", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  await rig.requestQueue.add("fetch", { v: payloadVersion + 1 } as unknown as FetchPayload, {
    jobId: "later",
  });
  await rig.startWorker(async () => responseOf("{}"));
  expect(textOf(await transport.send(requestFor("a")))).toBe("{}");
  await expect.poll(() => rig.requestQueue.getJobState("later")).toBe("delayed");
  expect(rig.warnings).toEqual([
    "A job for catalogue is left to other workers: its payload has version 3, this program reads version 2.",
  ]);
  expect((await rig.requestQueue.getJob("later"))?.data).toEqual({ v: payloadVersion + 1 });
});

it.concurrent("workers of another version get no jobs of this one, and a sync without workers of its own says so", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const { client, end } = await connectRedis(rig.redis.url);
  const received: unknown[] = [];
  const other = new Worker(
    fetchQueueName(principal, payloadVersion + 1),
    async ({ data }) => void received.push(data),
    { connection: client, prefix: keyPrefix },
  );
  const transport = await rig.startCoordinator();
  const first = transport.send(requestFor("0"));
  await expect
    .poll(() => rig.warnings)
    .toEqual([
      "The workers for catalogue have another credential or version than this sync: give them the same.",
    ]);
  await rig.startWorker(async (url) => responseOf(url));
  const rest = Array.from({ length: 40 }, (_, n) => transport.send(requestFor(`${n + 1}`)));
  for (const [n, response] of (await Promise.all([first, ...rest])).entries())
    expect(textOf(response)).toBe(requestFor(`${n}`).url);
  expect(received).toEqual([]);
  await other.close();
  end();
});

it.concurrent("a worker with another credential gets no requests, and no credential passes through Redis", async ({
  expect,
}) => {
  const ada = { ...principal, name: "ada", credential: bearerToken("ada-0123456789abcdef") };
  const otherPrincipal = { ...ada, credential: bearerToken("other-0123456789abcdef") };
  await using rig = await startBullmqRig();
  const commands: string[] = [];
  using _watched = await watchCommands(rig.redis, (command) => void commands.push(command));
  const transport = await rig.startCoordinator(ada);
  await rig.startWorker(async () => responseOf("from other"), otherPrincipal);
  const response = transport.send(requestFor("me/"));
  await expect
    .poll(() => rig.warnings)
    .toContain("The workers for ada have another credential or version than this sync: give them the same.");
  await rig.startWorker(async () => responseOf("from ada"), ada);
  expect(textOf(await response)).toBe("from ada");
  expect(commands.length).toBeGreaterThan(20);
  for (const { credential } of [ada, otherPrincipal])
    expect(commands.join("\n")).not.toContain(String(credential));
  expect(commands.join("\n")).not.toMatch(/0123456789abcdef/);
});

it.concurrent("a job without a valid proof of the credential is not sent", async ({ expect }) => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  await rig.requestQueue.add("model", {
    ...{ v: payloadVersion, ...describeAny(), url: requestFor("a").url, attempt: 1, condition: [] },
    reply: { id: "forged", coordinatorId: "anybody", credentialProof: "none", queue: "responses-x" },
  });
  await rig.startWorker(async (url) => {
    sent.push(url);
    return responseOf("{}");
  });
  await expect
    .poll(() => rig.warnings)
    .toEqual([
      "A job for catalogue is left to other workers: its sync has another credential than this worker.",
    ]);
  expect(sent).toEqual([]);
});

it.concurrent("a request for another origin is not sent", async ({ expect }) => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  const transport = await rig.startCoordinator();
  await rig.startWorker(async (url) => {
    sent.push(url);
    return responseOf("{}");
  });
  const cancel = new AbortController();
  const foreign = transport.send({
    ...requestFor("a"),
    url: "https://elsewhere.example/a",
    signal: cancel.signal,
  });
  await expect.poll(() => rig.warnings).toHaveLength(1);
  expect(rig.warnings[0]).toContain("it has a request that is not for https://api.example");
  cancel.abort();
  await Promise.allSettled([foreign]);
  expect(sent).toEqual([]);
});

it.concurrent("a request that makes a worker throw fails, and other requests continue", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  await rig.startWorker(async (url) => {
    if (url.endsWith("poison")) throw new Error("poisoned");
    return responseOf("{}");
  });
  const [poison, well] = await Promise.all([
    transport.send(requestFor("poison")),
    transport.send(requestFor("well")),
  ]);
  expect(poison.failure).toMatchObject({ code: "worker-lost", message: expect.stringContaining("poison") });
  expect(textOf(well)).toBe("{}");
});

it.concurrent("all workers of a queue back off once two requests in a row receive a long Retry-After", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  const transport = await rig.startCoordinator();
  await rig.startWorker(async (url) => {
    sent.push(url);
    return responseOf("{}", 429, { "retry-after": "3600" });
  });
  for (const name of ["first", "first", "second"])
    expect((await transport.send(requestFor(name))).head?.status).toBe(429);
  await rig.startWorker(async (url) => {
    sent.push(url);
    return responseOf("{}");
  });
  const later = transport.send(requestFor("later"));
  await expect.poll(() => rig.requestQueue.getRateLimitTtl(1)).toBeGreaterThan(3_000_000);
  expect(sent).toEqual(["first", "first", "second"].map((name) => requestFor(name).url));
  await transport.close();
  void later.catch(() => {});
});

it.concurrent("workers do not back off for one resource that alone receives a long Retry-After", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const refused = requestFor("refused").url;
  await rig.startWorker(async (url) =>
    url === refused ? responseOf("{}", 429, { "retry-after": "3600" }) : responseOf("{}"),
  );
  for (const name of ["refused", "other", "refused", "another"]) {
    const { head } = await transport.send(requestFor(name));
    expect(head?.status).toBe(name === "refused" ? 429 : 200);
  }
  expect(await rig.requestQueue.getGlobalRateLimit()).toBeNull();
});

it.concurrent("the queue has a limit only while its workers are paused", async ({ expect }) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  let isRefused = false;
  await rig.startWorker(async () => {
    if (isRefused) return responseOf("{}");
    isRefused = true;
    return responseOf("{}", 429, { "retry-after": "2" });
  });
  const limit = () => rig.requestQueue.getGlobalRateLimit();
  await transport.send(requestFor("first"));
  expect(await limit()).not.toBeNull();
  expect(textOf(await transport.send(requestFor("second")))).toBe("{}");
  let isBusy = true;
  const sending = (async () => {
    while (isBusy) await transport.send(requestFor("more"));
  })();
  await expect.poll(limit).toBeNull();
  isBusy = false;
  await sending;
});

it.concurrent("a job that a worker with a wrong clock has postponed is taken up by the coordinator's clock", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const response = transport.send(requestFor("a"));
  await expect.poll(() => rig.requestQueue.getWaitingCount()).toBe(1);
  const { client, end } = await connectRedis(rig.redis.url);
  const worker = new Worker(rig.requestQueue.name, null, { connection: client, prefix: keyPrefix });
  worker.on("error", () => {});
  // As a worker does whose clock is an hour fast.
  await (await worker.getNextJob("t", { block: false }))?.moveToDelayed(Date.now() + 3_600_000, "t");
  await worker.close();
  end();
  await rig.startWorker(async (url) => responseOf(url));
  expect(textOf(await response)).toBe(requestFor("a").url);
});

it.concurrent("the pause is reckoned by the coordinator's clock, whatever the worker's is", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const resetAt = Math.round(Date.now() / 1000) + 600;
  const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(resetAt) };
  await rig.startWorker(async () => responseOf("{}", 429, headers), principal, {
    ...systemClock,
    now: () => Date.now() - 3_600_000,
  });
  await transport.send(requestFor("first"));
  const millis = await rig.requestQueue.getRateLimitTtl(1);
  expect(millis).toBeGreaterThan(500_000);
  expect(millis).toBeLessThanOrEqual(601_000);
});

it.concurrent("a cancelled request fails as cancelled if no worker has started it, and else rejects", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const cancelEarly = new AbortController();
  const early = Array.from({ length: 20 }, (_, n) =>
    transport.send(requestFor(`early${n}`, cancelEarly.signal)),
  );
  await expect.poll(() => rig.requestQueue.count()).toBeGreaterThan(0);
  cancelEarly.abort(new Error("enough"));
  for (const { failure } of await Promise.all(early)) expect(failure).toMatchObject({ code: "cancelled" });
  expect(await rig.requestQueue.count()).toBe(0);

  const { promise: isStarted, resolve } = Promise.withResolvers<void>();
  const { promise: isFinished, resolve: finish } = Promise.withResolvers<void>();
  await using _worker = await startSilentWorker(rig, async () => {
    resolve();
    await isFinished;
  });
  const cancelLate = new AbortController();
  const started = transport.send(requestFor("started", cancelLate.signal));
  await isStarted;
  cancelLate.abort(new Error("enough"));
  await expect(started).rejects.toThrow("enough");
  finish();
});

it.concurrent("a run that starts during a backoff of the workers sends nothing and learns when the backoff ends", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  await rig.startWorker(async (url) => {
    sent.push(url);
    return responseOf("{}", 429, { "retry-after": "3600", "x-ratelimit-remaining": "0" });
  });
  await (await rig.startCoordinator()).send(requestFor("first"));
  const otherPrincipal = await rig.startCoordinator();
  const { failure } = await otherPrincipal.send(requestFor("second"));
  expect(failure).toMatchObject({ code: "paused" });
  expect(failure?.resumeAt).toBeGreaterThan(Date.now() + 3_000_000);
  expect(sent).toEqual([requestFor("first").url]);
});

/** Sends a request, and fills Redis as soon as a worker has the request. */
async function sendUntilFull(rig: BullmqRig, workerResponse: ReturnType<typeof responseOf>) {
  const transport = await rig.startCoordinator();
  const { promise: isSent, resolve } = Promise.withResolvers<void>();
  await rig.startWorker(async () => {
    await rig.redis.admin.config("SET", "maxmemory", "1");
    resolve();
    return workerResponse;
  });
  const response = transport.send(requestFor("first"));
  await isSent;
  return { response, makeRoom: () => rig.redis.admin.config("SET", "maxmemory", "0") };
}

it.concurrent("a Retry-After reaches the coordinator even if a full Redis cannot store the backoff", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const { response, makeRoom } = await sendUntilFull(rig, responseOf("{}", 429, { "retry-after": "3600" }));
  await expect.poll(() => countRejected(rig)).toBeGreaterThan(0);
  await makeRoom();
  expect((await response).head?.status).toBe(429);
});

it.concurrent("coordinator and worker each warn once about a full Redis, and continue when it has room", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const { response, makeRoom } = await sendUntilFull(rig, responseOf("{}"));
  await expect.poll(() => rig.warnings).toEqual([outOfMemoryMessage, outOfMemoryMessage]);
  await makeRoom();
  expect(textOf(await response)).toBe("{}");
  expect(rig.warnings).toHaveLength(2);
});

/** The number of commands that Redis rejected because it was full. */
async function countRejected({ redis }: BullmqRig): Promise<number> {
  return Number(/OOM:count=(\d+)/.exec(await redis.admin.info("errorstats"))?.[1] ?? 0);
}

it.concurrent("a worker sends nothing for a run that a later run of its mirror has replaced", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  const transport = await rig.startCoordinator();
  const response = transport.send(requestFor("a")).catch(() => {});
  await expect.poll(() => rig.requestQueue.getWaitingCount()).toBe(1);
  const [key = ""] = await rig.redis.admin.keys(`${keyPrefix}:coordinator:*`);
  await rig.redis.admin.set(key, "the next run");
  await rig.startWorker(async (url) => {
    sent.push(url);
    return responseOf("{}");
  });
  // The coordinator gets the request back unsent, renews its heartbeat, and queues the request again.
  await response;
  expect(sent).toEqual([requestFor("a").url]);
});

it.concurrent("nothing is sent for a run whose heartbeat workers cannot see, until they can", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const sent: string[] = [];
  await rig.startWorker(async (url) => {
    sent.push(url);
    return responseOf("{}");
  });
  // Redis disconnects a listener that has lost its permission.
  await rig.redis.admin.acl("SETUSER", "default", "resetchannels");
  const response = transport.send(requestFor("a"));
  await expect
    .poll(() => rig.warnings)
    .toEqual([expect.stringMatching(/^Workers do not see this sync and send nothing for it, .*NOPERM/)]);
  expect(sent).toEqual([]);
  await rig.redis.admin.acl("SETUSER", "default", "allchannels");
  expect(textOf(await response)).toBe("{}");
});

it.concurrent("a worker sends no more requests of a job that was lost when Redis was emptied", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const sent: string[] = [];
  const responses = Promise.all(Array.from({ length: 64 }, (_, n) => transport.send(requestFor(`${n}`))));
  await rig.startWorker(async (url) => {
    sent.push(url);
    await isReleased;
    return responseOf(url);
  });
  await expect.poll(() => sent.length).toBe(4);
  await rig.redis.admin.flushall();
  expect(new Set((await responses).map(({ failure }) => failure?.code))).toEqual(new Set(["worker-lost"]));
  // The worker holds more requests of the job than the four that it has sent. They end before another job starts.
  release();
  await transport.send(requestFor("after"));
  expect(sent.slice(4)).toEqual([requestFor("after").url]);
});

it.concurrent("a worker refuses a response that repeats its credential before it passes through Redis", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const token = "canary-4711-0815";
  await using service = await startRawServer(({ path }, socket) =>
    socket.write(
      path === "/etag"
        ? jsonResponse({ rel: "entity" }, { etag: `"${token}"` })
        : jsonResponse({ rel: "entity", body: { name: token } }),
    ),
  );
  const user = { name: "anna", baseUrl: `${service.origin}/`, credential: bearerToken(token) };
  const stop = new AbortController();
  const working = runWorker({ redis: rig.redis.url, principals: [user], signal: stop.signal });
  // The coordinator searches nothing: what it receives is what passed through Redis.
  const transport = await rig.startCoordinator(user);
  const send = (path: string) =>
    transport.send({ url: service.origin + path, condition: [], signal: undefined });
  expect(await send("/body")).toMatchObject({ wire: null, failure: { code: "repeats-credential" } });
  const { head } = await send("/etag");
  expect(head).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
  expect(head?.headers.etag).toBeUndefined();
  stop.abort();
  await working;
});

it.concurrent("a request that has its response is not sent again when Redis restarts with an older state", async ({
  expect,
}) => {
  await using rig = await startBullmqRig();
  const transport = await rig.startCoordinator();
  const sending = ["a", "b", "c"].map((path) => transport.send(requestFor(path)));
  await expect.poll(() => rig.requestQueue.getWaitingCount()).toBe(3);
  await rig.redis.admin.save();
  const sent: string[] = [];
  await rig.startWorker(async (url) => {
    sent.push(new URL(url).pathname);
    return responseOf("{}");
  });
  await Promise.all(sending);
  await rig.redis.kill();
  await rig.redis.start();
  // It is queued behind what Redis has restored.
  await transport.send(requestFor("d"));
  await expect.poll(() => rig.requestQueue.getJobCountByTypes("waiting", "active")).toBe(0);
  expect(sent.toSorted()).toEqual(["/a", "/b", "/c", "/d"]);
});
