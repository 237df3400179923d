/**
 * The minimal storing client: the bare loop plus a thread that stores bodies durably in batches of the same size. No
 * crawling, no checks, no history. Arguments: file of URLs, file to store in, concurrency.
 */
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { Pool } from "undici";
import { printMeasurement } from "../measurement.ts";
import type { FetchedBody } from "./storing-thread.ts";

const batchSize = 256;
const [file = "", output = "", concurrency = "1"] = process.argv.slice(2);
const urls = readFileSync(file, "utf8").trimEnd().split("\n");
const pool = new Pool(new URL(urls[0] ?? "").origin, { connections: Number(concurrency) });
for (const suffix of ["", "-wal", "-shm"]) rmSync(`${output}${suffix}`, { force: true });

await printMeasurement(urls.length, async () => {
  const thread = new Worker(new URL("./storing-thread.ts", import.meta.url), { workerData: output });
  let stored = Promise.resolve();
  let batch: FetchedBody[] = [];
  const store = async (bodies: readonly FetchedBody[]) => {
    const confirmed = once(thread, "message");
    thread.postMessage(
      bodies,
      bodies.map(({ body }) => body.buffer),
    );
    await confirmed;
  };
  /** Starts storing the batch once the batch before is stored. */
  const flush = async () => {
    const full = batch;
    batch = [];
    const previous = stored;
    stored = previous.then(() => store(full));
    await previous;
  };
  let next = 0;
  const fetchAll = async () => {
    for (let url = urls[next++]; url !== undefined; url = urls[next++]) {
      const { pathname, search } = new URL(url);
      const response = await pool.request({ method: "GET", path: pathname + search });
      const body = new Uint8Array(await response.body.arrayBuffer());
      JSON.parse(Buffer.from(body.buffer).toString("utf8"));
      batch.push({ url, body });
      if (batch.length === batchSize) await flush();
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, fetchAll));
  await flush();
  await stored;
  await thread.terminate();
});
await pool.close();
