/** What a stranger may write into a Redis: entries for people, jobs for programs, and responses to requests of others. */
import type { Redis } from "ioredis";
import { keyPrefix, payloadVersion } from "../../../jobs/bullmq/queue-names.ts";
import { type RedisServer, watchCommands } from "../../support/redis.ts";

export const key = (name: string) => `${keyPrefix}:${name}`;
const long = "x".repeat(5_000_000);

/** A job in a state, as BullMQ stores it, with these fields. */
export async function addJob(
  admin: Redis,
  queue: string,
  state: "wait" | "active" | "failed" | "completed",
  fields: Record<string, string>,
  id = "evil",
): Promise<void> {
  await admin.hset(key(`${queue}:meta`), "opts.maxLenEvents", 10_000);
  await admin.hset(key(`${queue}:${id}`), { name: "model", opts: "{}", timestamp: 1, data: "{}", ...fields });
  if (state === "wait" || state === "active") await admin.lpush(key(`${queue}:${state}`), id);
  else await admin.zadd(key(`${queue}:${state}`), 1, id);
}

export const json = JSON.stringify;
export const payload = {
  ...{
    v: payloadVersion,
    run: 1,
    kind: "model",
    url: "http://good/",
    label: null,
    attempt: 1,
    condition: [],
  },
  ...{
    isFreeIfUnchanged: true,
    reply: { coordinatorId: "a", credentialProof: "b", queue: "responses-c", id: "d" },
  },
};
export const ofCatalogue = {
  ...{ name: "catalogue", service: "s", acceptsJobs: true, credential: "none", lastJob: null, sent: 1 },
};
export const worker = (more: object) =>
  json({ host: "h", pid: 1, version: "1", startedAt: 1, principals: [], ...more });

export const entries: readonly (readonly [string, (admin: Redis) => Promise<unknown>])[] = [
  ["a worker that is no JSON", (admin) => admin.set(key("worker:a"), "{")],
  ["a worker that is null", (admin) => admin.set(key("worker:a"), "null")],
  ["a worker that is a list", (admin) => admin.lpush(key("worker:a"), "1")],
  ["a worker with a long name", (admin) => admin.set(key("worker:a"), worker({ host: long }))],
  ["a worker with impossible times", (admin) => admin.set(key("worker:a"), worker({ startedAt: 1e300 }))],
  [
    "a worker whose principal is called __proto__",
    (admin) =>
      admin.set(
        key("worker:a"),
        `{"host":"h","pid":1,"version":"1","startedAt":1,"__proto__":{"x":1},"principals":[{"name":"__proto__","service":"s","acceptsJobs":true,"credential":"none","lastJob":{"kind":"k","label":null,"at":-1e300},"sent":1}]}`,
      ),
  ],
  [
    "figures that are no numbers",
    (admin) =>
      admin.hset(key("coordinator-state:x"), {
        ...{ principal: "catalogue", queue: "fetch-catalogue@a~v2", limit: "many", remaining: "1e999" },
        ...{ resetAt: "1e300", updatedAt: "-", startedAt: "x", endedAt: "NaN", sent: "-1", "runs:x": "y" },
      }),
  ],
  [
    "figures with the names of an object's members",
    (admin) =>
      admin.hset(key("coordinator-state:__proto__"), {
        ...{ principal: "__proto__", queue: "constructor", "runs:__proto__": "5", "failures:toString": "5" },
        "frontier:\n": "1",
      }),
  ],
  ["a queue without a name", (admin) => admin.hset(key(":meta"), "a", "b")],
  ["a queue with a line break", (admin) => admin.hset(key("fetch-a\nb@c~v2:meta"), "a", "b")],
  [
    "a queue of a principal called __proto__",
    (admin) => admin.hset(key("fetch-__proto__@c~v2:meta"), "a", "b"),
  ],
  [
    "a queue whose list is a text",
    async (admin) => {
      await admin.hset(key("fetch-other@c~v2:meta"), "a", "b");
      await admin.set(key("fetch-other@c~v2:failed"), "b");
      await admin.set(key("fetch-other@c~v2:wait"), "b");
    },
  ],
  [
    "a failed request without a job",
    async (admin) => {
      await addJob(admin, "fetch-catalogue@c~v2", "failed", {});
      await admin.del(key("fetch-catalogue@c~v2:evil"));
    },
  ],
  [
    "a failed request that is no JSON",
    (admin) => addJob(admin, "fetch-catalogue@c~v2", "failed", { data: "{" }),
  ],
  [
    "a failed request that is a text",
    async (admin) => {
      await addJob(admin, "fetch-catalogue@c~v2", "failed", {});
      await admin.del(key("fetch-catalogue@c~v2:evil"));
      await admin.set(key("fetch-catalogue@c~v2:evil"), "x");
    },
  ],
  [
    "a failed request with impossible times and without a reason",
    (admin) => addJob(admin, "fetch-catalogue@c~v2", "failed", { data: json(payload), finishedOn: "1e300" }),
  ],
  [
    "a failed request with long texts",
    (admin) =>
      addJob(admin, "fetch-catalogue@c~v2", "failed", {
        ...{ data: json({ ...payload, url: long, label: long }), failedReason: long, finishedOn: "1" },
      }),
  ],
  [
    "a run that is no JSON",
    (admin) => addJob(admin, "sync-catalogue@c", "active", { data: "{", progress: "{" }),
  ],
  [
    "a run with impossible times",
    (admin) =>
      addJob(admin, "sync-catalogue@c", "completed", {
        ...{ timestamp: "1e300", finishedOn: "x", returnvalue: "{", data: "[]" },
      }),
  ],
  [
    "a run with impossible progress",
    (admin) =>
      addJob(admin, "sync-catalogue@c", "active", {
        ...{ timestamp: "x", data: json({ run: 1, mode: "m" }) },
        progress: json({ held: 5, due: -5, counted: 1, allowanceLeft: -1, estimatedEnd: "soon", kinds: [] }),
      }),
  ],
  [
    "a schedule of another form",
    async (admin) => {
      await admin.hset(key("schedules-a:meta"), "a", "b");
      await admin.zadd(key("schedules-a:repeat"), 1e300, "evil");
      await admin.hset(key("schedules-a:repeat:evil"), {
        name: "n",
        data: json({ command: 5, area: "x" }),
        opts: "{}",
      });
    },
  ],
  [
    "a schedule that is no JSON",
    async (admin) => {
      await admin.hset(key("schedules-a:meta"), "a", "b");
      await admin.zadd(key("schedules-a:repeat"), "-inf", "evil");
      await admin.hset(key("schedules-a:repeat:evil"), {
        name: "n",
        data: "{",
        opts: "{",
        tz: "Nowhere/Never",
        pattern: "x",
      });
    },
  ],
  [
    "a run of a schedule that is no JSON",
    async (admin) => {
      await admin.zadd(key("schedules-a:repeat"), 1, "evil");
      await admin.hset(key("schedules-a:repeat:evil"), { name: "model", data: "{}", opts: "{}" });
      await addJob(admin, "schedules-a", "completed", {
        data: "{",
        returnvalue: "{",
        finishedOn: "z",
        processedOn: "y",
      });
    },
  ],
  [
    "events that are a text",
    async (admin) => {
      await admin.hset(key("fetch-catalogue@c~v2:meta"), "a", "b");
      await admin.set(key("fetch-catalogue@c~v2:events"), "x");
    },
  ],
];

export const jobs: readonly (readonly [string, (admin: Redis, queue: string) => Promise<unknown>])[] = [
  ["no JSON", (admin, queue) => addJob(admin, queue, "wait", { data: "{" })],
  ["options that are no JSON", (admin, queue) => addJob(admin, queue, "wait", { opts: "{" })],
  ["null", (admin, queue) => addJob(admin, queue, "wait", { data: "null" })],
  ["a number", (admin, queue) => addJob(admin, queue, "wait", { data: "7" })],
  ["another version", (admin, queue) => addJob(admin, queue, "wait", { data: json({ ...payload, v: 1 }) })],
  [
    "another form",
    (admin, queue) => addJob(admin, queue, "wait", { data: json({ v: payloadVersion, responses: 1 }) }),
  ],
  [
    "long",
    (admin, queue) => addJob(admin, queue, "wait", { data: json({ v: payloadVersion, responses: [long] }) }),
  ],
  [
    "a job that is missing",
    async (admin, queue) => {
      await addJob(admin, queue, "wait", {});
      await admin.del(key(`${queue}:evil`));
    },
  ],
  [
    "a job that is a text",
    async (admin, queue) => {
      await addJob(admin, queue, "wait", {});
      await admin.del(key(`${queue}:evil`));
      await admin.set(key(`${queue}:evil`), "x");
    },
  ],
  [
    "fifty that are no JSON",
    async (admin, queue) => {
      for (let n = 0; n < 50; n++) await addJob(admin, queue, "wait", { data: "{" }, `evil${n}`);
    },
  ],
];
const head = { status: 200, headers: { "content-type": "application/json" } };
const body = Buffer.from("{}").toString("base64");
const failure = { code: "timeout", detail: "d", status: null, resumeAt: null };
export const forged: readonly (readonly [string, object])[] = [
  ["an impossible status", { outcome: "response", head: { ...head, status: 1e9 }, wire: body }],
  ["a negative status", { outcome: "response", head: { ...head, status: -1 }, wire: body }],
  ["no base64", { outcome: "response", head, wire: "\u0000%%%" }],
  [
    "headers of an object's members",
    {
      outcome: "response",
      head: {
        status: 200,
        headers: JSON.parse(
          '{"__proto__":"x","constructor":"y","toString":["z"],"etag":["a","b"],"date":"\\u0000"}',
        ),
      },
      wire: body,
    },
  ],
  [
    "a long header of a refusal",
    {
      outcome: "response",
      head: {
        status: 429,
        headers: { "retry-after": "9".repeat(400), "x-ratelimit-reset": "9".repeat(400) },
      },
      wire: body,
    },
  ],
  ["time out of range", { outcome: "failed", head: null, failure: { ...failure, resumeAt: 1e300 } }],
  [
    "paused until never",
    { outcome: "failed", head: null, failure: { ...failure, code: "paused", resumeAt: 1e300 } },
  ],
  [
    "paused until before",
    { outcome: "failed", head: null, failure: { ...failure, code: "paused", resumeAt: -1e300 } },
  ],
  [
    "unknown code",
    {
      outcome: "failed",
      head: null,
      failure: { ...failure, code: "__proto__", detail: `\u001b[31m${long}` },
    },
  ],
  ["unsent for ever", { outcome: "unsent" }],
  ["other form", { outcome: "response", head: null, wire: 5 }],
];

/** Learns the name of the queue of responses, as a stranger may. */
export async function watchResponseQueue(
  redis: RedisServer,
): Promise<Disposable & { readonly name: Promise<string> }> {
  const { promise: name, resolve } = Promise.withResolvers<string>();
  const watched = await watchCommands(redis, (command) => {
    const found = new RegExp(`${keyPrefix}:(responses-[^:]+):`).exec(command)?.[1];
    if (found !== undefined) resolve(found);
  });
  return { name, [Symbol.dispose]: () => watched[Symbol.dispose]() };
}
