/**
 * Adds jobs to a queue of BullMQ, and processes and removes them, as its documentation shows: nothing is fetched. Prints the
 * rate and the commands that Redis executed for each job.
 */
import { once } from "node:events";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { countCommands } from "./redis-commands.ts";

const [url = "", jobCount = "", concurrency = ""] = process.argv.slice(2);
const count = Number(jobCount);
const jobsAtOnce = 64;

const client = new Redis(url, { maxRetriesPerRequest: null });
const queue = new Queue("plain", { connection: client });
const before = await countCommands(client);
const startedAt = performance.now();
let processed = 0;
const done = Promise.withResolvers<void>();
const worker = new Worker("plain", async () => null, {
  connection: client,
  concurrency: Number(concurrency),
  removeOnComplete: { count: 0 },
});
worker.on("completed", () => {
  if (++processed === count) done.resolve();
});
for (let added = 0; added < count; added += jobsAtOnce) {
  const length = Math.min(jobsAtOnce, count - added);
  const jobs = Array.from({ length }, (_, n) => ({
    name: "model",
    data: {
      run: 1,
      kind: "model",
      url: `https://api.example.org/models/${added + n}/`,
      label: null,
      attempt: 1,
    },
  }));
  await queue.addBulk(jobs);
}
await done.promise;
const seconds = (performance.now() - startedAt) / 1000;
const commands = (await countCommands(client)) - before;
await worker.close();
await queue.close();
client.disconnect();
await once(client, "end").catch(() => {});
process.stdout.write(JSON.stringify({ jobs: count, seconds, commands }));
