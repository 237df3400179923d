/**
 * Fetches the URLs of a file with plain BullMQ, as its documentation shows: one process adds a job for each URL, a worker
 * process fetches it and returns the response, and the first process receives that as an event. Nothing is stored. Prints the
 * rate and the commands that Redis executed. Arguments: socket of Redis, file, concurrency.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Queue, QueueEvents, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Pool } from "undici";
import { countCommands } from "./redis-commands.ts";

const [socket = "", file = "", concurrency = "", role = "coordinator"] = process.argv.slice(2);
const connect = () => new Redis(socket, { maxRetriesPerRequest: null });
const jobsAtOnce = 64;
const urls = readFileSync(file, "utf8").trimEnd().split("\n");

if (role === "worker") await work();
else await coordinate();

async function work(): Promise<void> {
  const pool = new Pool(new URL(urls[0] ?? "").origin, { connections: Number(concurrency) });
  const worker = new Worker(
    "fetch",
    async ({ data }) => {
      const { pathname, search } = new URL(data.url);
      const { statusCode, headers, body } = await pool.request({ method: "GET", path: pathname + search });
      return { status: statusCode, etag: headers.etag, body: await body.text() };
    },
    { connection: connect(), concurrency: Number(concurrency), removeOnComplete: { count: 0 } },
  );
  await worker.waitUntilReady();
  process.stdout.write("ready\n");
}

async function coordinate(): Promise<void> {
  const worker = spawn(process.execPath, [...process.argv.slice(1, 5), "worker"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(worker.stdout, "data");
  const client = connect();
  const queue = new Queue("fetch", { connection: client });
  const events = new QueueEvents("fetch", { connection: connect() });
  await events.waitUntilReady();
  const before = await countCommands(client);
  const startedAt = performance.now();
  let received = 0;
  const done = Promise.withResolvers<void>();
  events.on("completed", ({ returnvalue }) => {
    const { body } = returnvalue as unknown as { readonly body: string };
    JSON.parse(body);
    if (++received === urls.length) done.resolve();
  });
  events.on("failed", ({ failedReason }) => done.reject(new Error(failedReason)));
  for (let added = 0; added < urls.length; added += jobsAtOnce) {
    const jobs = urls.slice(added, added + jobsAtOnce).map((url) => ({ name: "fetch", data: { url } }));
    await queue.addBulk(jobs);
  }
  await done.promise;
  const seconds = (performance.now() - startedAt) / 1000;
  const commands = (await countCommands(client)) - before;
  worker.kill();
  process.stdout.write(JSON.stringify({ jobs: urls.length, seconds, commands }), () => process.exit());
}
