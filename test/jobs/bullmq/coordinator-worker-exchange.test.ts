/** What passes between a coordinator and workers: each request answered once, by whoever may answer it, and by no other. */
import { Worker } from "bullmq";
import fc from "fast-check";
import { expect, it } from "vitest";
import { outOfMemoryMessage } from "../../../jobs/bullmq/errors.ts";
import { type FetchPayload, payloadVersion } from "../../../jobs/bullmq/protocol.ts";
import { connectRedis, keyPrefix } from "../../../jobs/bullmq/redis.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { tries } from "../../support/thorough.ts";
import { answerOf, type BullmqRig, principal, startBullmqRig } from "../support/rig.ts";

const ask = (path: string, signal?: AbortSignal) => ({
  url: new URL(path, principal.baseUrl).href,
  condition: ["if-none-match", '"x"'],
  signal,
});
const textOf = ({ wire }: { wire: Uint8Array | null }) => wire && new TextDecoder().decode(wire);

/** A worker that only tells what it was given; its jobs end when the test says so. */
async function listen(
  rig: BullmqRig,
  take: (payload: FetchPayload) => Promise<void>,
): Promise<AsyncDisposable> {
  const { client, end } = await connectRedis(rig.redis.url);
  const worker = new Worker(rig.fetches.name, async ({ data }) => await take(data as FetchPayload), {
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

it("takes one answer to each request, however often and in whatever order they come", async () => {
  await using rig = await startBullmqRig();
  const sender = await rig.coordinate();
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { minLength: 1, maxLength: 12 }),
      fc.infiniteStream(fc.nat()),
      async (numbers, random) => {
        const asked: { payload: FetchPayload; id: string; text: string }[] = [];
        const { promise: areThere, resolve } = Promise.withResolvers<void>();
        await using _worker = await listen(rig, async (payload) => {
          for (const { id, url } of payload.requests) asked.push({ payload, id, text: url });
          if (asked.length === numbers.length) resolve();
        });
        const answers = Promise.all(numbers.map((n) => sender.send(ask(`${n}`))));
        await areThere;
        const thrice = [...asked, ...asked, ...asked]
          .map((one) => ({ one, place: random.next().value }))
          .sort((a, b) => a.place - b.place);
        for (const { one } of thrice) await rig.answer(one.payload, one.id, answerOf(one.text));
        expect((await answers).map(textOf)).toEqual(numbers.map((n) => ask(`${n}`).url));
      },
    ),
    { numRuns: tries(4, 50) },
  );
});

it("gives each answer as it came: every byte, and the headers that say something", async () => {
  await using rig = await startBullmqRig();
  const bytes = Uint8Array.from({ length: 512 }, (_, n) => n % 256);
  const headers = { etag: 'W/"é"', "set-cookie": "session=1", "x-ratelimit-remaining": "7" };
  await rig.work(async () => answerOf(bytes, 203, headers));
  const sender = await rig.coordinate();
  expect(await sender.send(ask("a"))).toEqual({
    head: {
      status: 203,
      headers: { "content-type": "application/json", etag: 'W/"é"', "x-ratelimit-remaining": "7" },
    },
    wire: bytes,
    failure: null,
  });
});

it("drops an answer that comes after its request was given up", async () => {
  await using rig = await startBullmqRig();
  const sender = await rig.coordinate();
  const stop = new AbortController();
  const taken = Promise.withResolvers<FetchPayload>();
  {
    await using _worker = await listen(rig, async (payload) => taken.resolve(payload));
    const given = sender.send(ask("a", stop.signal));
    const payload = await taken.promise;
    // Its worker is done with it, and Redis knows it no more.
    await expect.poll(() => rig.fetches.getActiveCount()).toBe(0);
    stop.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    await rig.answer(payload, payload.requests[0]?.id ?? "", answerOf("late"));
  }
  await rig.work(async () => answerOf("now"));
  expect(textOf(await sender.send(ask("a")))).toBe("now");
});

it("leaves a job of another version to others, says so, and goes on with what it knows", async () => {
  await using rig = await startBullmqRig();
  const sender = await rig.coordinate();
  await rig.fetches.add("fetch", { v: payloadVersion + 1 } as unknown as FetchPayload, { jobId: "later" });
  await rig.work(async () => answerOf("{}"));
  expect(textOf(await sender.send(ask("a")))).toBe("{}");
  await expect.poll(() => rig.fetches.getJobState("later")).toBe("delayed");
  expect(rig.remarks).toEqual([
    "A job for catalogue is left to other workers: its form is of version 2, this program knows version 1.",
  ]);
  expect((await rig.fetches.getJob("later"))?.data).toEqual({ v: payloadVersion + 1 });
});

it("never gives a worker what was asked for with another credential, says so, and gives no credential away", async () => {
  const hers = { ...principal, name: "ada", credential: bearerToken("hers-0123456789abcdef") };
  const other = { ...hers, credential: bearerToken("other-0123456789abcdef") };
  await using rig = await startBullmqRig();
  const said: string[] = [];
  const monitor = await rig.redis.admin.monitor();
  monitor.on("monitor", (_time: string, words: string[]) => void said.push(words.join(" ")));
  const sender = await rig.coordinate(hers);
  await rig.work(async () => answerOf("not hers"), other);
  const answer = sender.send(ask("me/"));
  await expect
    .poll(() => rig.remarks, { timeout: 10_000 })
    .toEqual(["The workers for ada have another credential or version than this sync: give them the same."]);
  await rig.work(async () => answerOf("hers"), hers);
  expect(textOf(await answer)).toBe("hers");
  monitor.disconnect();
  expect(said.length).toBeGreaterThan(20);
  for (const { credential } of [hers, other]) expect(said.join("\n")).not.toContain(String(credential));
  expect(said.join("\n")).not.toMatch(/0123456789abcdef/);
});

it("sends nothing for whoever reaches the queue and cannot prove that he has the credential", async () => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  const requests = [{ id: "forged", url: ask("a").url, condition: [] }];
  await rig.fetches.add("fetch", {
    ...{ v: payloadVersion, requests, coordinator: "anybody", proof: "none", answersTo: "answers-x" },
  });
  await rig.work(async (url) => {
    sent.push(url);
    return answerOf("{}");
  });
  await expect
    .poll(() => rig.remarks)
    .toEqual([
      "A job for catalogue is left to other workers: whoever asks has another credential than this worker.",
    ]);
  expect(sent).toEqual([]);
});

it("sends nothing to another origin, whatever a job says", async () => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  const sender = await rig.coordinate();
  await rig.work(async (url) => {
    sent.push(url);
    return answerOf("{}");
  });
  const stop = new AbortController();
  const strange = sender.send({ ...ask("a"), url: "https://elsewhere.example/a", signal: stop.signal });
  await expect.poll(() => rig.remarks).toHaveLength(1);
  expect(rig.remarks[0]).toContain("its address is not at https://api.example");
  stop.abort();
  await Promise.allSettled([strange]);
  expect(sent).toEqual([]);
});

it("tells what a worker could not carry out as a request without an answer, and goes on", async () => {
  await using rig = await startBullmqRig();
  const sender = await rig.coordinate();
  await rig.work(async (url) => {
    if (url.endsWith("poison")) throw new Error("this one is poison");
    return answerOf("{}");
  });
  const [poison, well] = await Promise.all([sender.send(ask("poison")), sender.send(ask("well"))]);
  expect(poison.failure).toMatchObject({ code: "worker-lost", message: expect.stringContaining("poison") });
  expect(textOf(well)).toBe("{}");
});

it("makes all workers wait where one was told to, and takes back what nobody has begun", async () => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  const sender = await rig.coordinate();
  await rig.work(async (url) => {
    sent.push(url);
    return answerOf("{}", 429, { "retry-after": "3600" });
  });
  const first = await sender.send(ask("first"));
  expect(first.head?.status).toBe(429);
  await rig.work(async (url) => {
    sent.push(url);
    return answerOf("{}");
  });
  const later = sender.send(ask("later"));
  await expect.poll(() => rig.fetches.getRateLimitTtl(1)).toBeGreaterThan(3_000_000);
  expect(sent).toEqual([ask("first").url]);
  await sender.close();
  void later.catch(() => {});
});

it("tells a request that was given up before any worker began with it from one that a worker may have sent", async () => {
  await using rig = await startBullmqRig();
  const sender = await rig.coordinate();
  const ending = new AbortController();
  const early = Array.from({ length: 20 }, (_, n) => sender.send(ask(`early${n}`, ending.signal)));
  await expect.poll(() => rig.fetches.count()).toBeGreaterThan(0);
  ending.abort(new Error("enough"));
  for (const { failure } of await Promise.all(early)) expect(failure).toMatchObject({ code: "cancelled" });
  expect(await rig.fetches.count()).toBe(0);

  const { promise: isBegun, resolve } = Promise.withResolvers<void>();
  const { promise: isOver, resolve: answer } = Promise.withResolvers<void>();
  await using _worker = await listen(rig, async () => {
    resolve();
    await isOver;
  });
  const later = new AbortController();
  const begun = sender.send(ask("begun", later.signal));
  await isBegun;
  later.abort(new Error("enough"));
  await expect(begun).rejects.toThrow("enough");
  answer();
});

it("tells a run that begins while workers are made to wait until when, and sends nothing for it", async () => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  await rig.work(async (url) => {
    sent.push(url);
    return answerOf("{}", 429, { "retry-after": "3600" });
  });
  await (await rig.coordinate()).send(ask("first"));
  const other = await rig.coordinate();
  const { failure } = await other.send(ask("second"));
  expect(failure).toMatchObject({ code: "paused" });
  expect(failure?.resumeAt).toBeGreaterThan(Date.now() + 3_000_000);
  expect(sent).toEqual([ask("first").url]);
});

/** Sends a request, and has Redis full as soon as a worker has it. @param answer of the worker */
async function sendUntilFull(rig: BullmqRig, answer: ReturnType<typeof answerOf>) {
  const sender = await rig.coordinate();
  const { promise: isSent, resolve } = Promise.withResolvers<void>();
  await rig.work(async () => {
    await rig.redis.admin.config("SET", "maxmemory", "1");
    resolve();
    return answer;
  });
  const answered = sender.send(ask("first"));
  await isSent;
  return { answered, makeRoom: () => rig.redis.admin.config("SET", "maxmemory", "0") };
}

it("loses no refusal where Redis is too full to note it for all", async () => {
  await using rig = await startBullmqRig();
  const { answered, makeRoom } = await sendUntilFull(rig, answerOf("{}", 429, { "retry-after": "3600" }));
  await expect.poll(() => countRejected(rig)).toBeGreaterThan(0);
  await makeRoom();
  expect((await answered).head?.status).toBe(429);
});

it("says on both sides that Redis is full, once, and goes on when there is room", async () => {
  await using rig = await startBullmqRig();
  const { answered, makeRoom } = await sendUntilFull(rig, answerOf("{}"));
  await expect.poll(() => rig.remarks, { timeout: 15_000 }).toEqual([outOfMemoryMessage, outOfMemoryMessage]);
  await makeRoom();
  expect(textOf(await answered)).toBe("{}");
  expect(rig.remarks).toHaveLength(2);
});

/** Commands that Redis refused for want of memory. */
async function countRejected({ redis }: BullmqRig): Promise<number> {
  return Number(/OOM:count=(\d+)/.exec(await redis.admin.info("errorstats"))?.[1] ?? 0);
}

it("sends nothing for a run that is gone, or that another one over its mirror came after", async () => {
  await using rig = await startBullmqRig();
  const sent: string[] = [];
  const sender = await rig.coordinate();
  const given = sender.send(ask("a")).catch(() => {});
  await expect.poll(() => rig.fetches.getWaitingCount()).toBe(1);
  const [key = ""] = await rig.redis.admin.keys(`${keyPrefix}:coordinator:*`);
  await rig.redis.admin.set(key, "the next run");
  await rig.work(async (url) => {
    sent.push(url);
    return answerOf("{}");
  });
  // The coordinator is told, is there after all, and asks again.
  await given;
  expect(sent).toEqual([ask("a").url]);
});

it("sends nothing for a run that workers cannot see, says so, and goes on once they can", async () => {
  await using rig = await startBullmqRig();
  const sender = await rig.coordinate();
  const sent: string[] = [];
  await rig.work(async (url) => {
    sent.push(url);
    return answerOf("{}");
  });
  // Redis ends the connection of who listens where he may not.
  await rig.redis.admin.acl("SETUSER", "default", "resetchannels");
  const answered = sender.send(ask("a"));
  await expect
    .poll(() => rig.remarks, { timeout: 15_000 })
    .toEqual([expect.stringMatching(/^Workers cannot see this sync and send nothing for it; .*NOPERM/)]);
  expect(sent).toEqual([]);
  await rig.redis.admin.acl("SETUSER", "default", "allchannels");
  expect(textOf(await answered)).toBe("{}");
});

it("sends nothing more of a job that was given up meanwhile, since Redis was emptied", async () => {
  await using rig = await startBullmqRig();
  const sender = await rig.coordinate();
  const { promise: areLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const sent: string[] = [];
  const answers = Promise.all(Array.from({ length: 64 }, (_, n) => sender.send(ask(`${n}`))));
  await rig.work(async (url) => {
    sent.push(url);
    await areLetGo;
    return answerOf(url);
  });
  await expect.poll(() => sent.length).toBe(4);
  await rig.redis.admin.flushall();
  expect(new Set((await answers).map(({ failure }) => failure?.code))).toEqual(new Set(["worker-lost"]));
  // The worker has more of them than the four that it has sent; only then is there room for another one.
  letGo();
  await sender.send(ask("after"));
  expect(sent.slice(4)).toEqual([ask("after").url]);
});
