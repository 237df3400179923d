/** `npm run prove`: 10,000 random histories on all cores; `--histories` and `--seed` change the defaults. */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import setUpInMemory from "../support/in-memory.ts";
import { type ProofOptions, proveDiffs } from "./support/prove-diffs.ts";

type Share = Pick<ProofOptions, "histories"> & { readonly seed: number };

const reportInterval = 250;
const count = (number: number) => number.toLocaleString("en");

if (isMainThread) await proveAll();
else await proveDiffs({ ...(workerData as Share), onProven: (pairs) => parentPort?.postMessage(pairs) });

async function proveAll(): Promise<void> {
  const { values } = parseArgs({
    options: { histories: { type: "string", default: "10000" }, seed: { type: "string" } },
  });
  const requested = Number(values.histories);
  const seed = Number(values.seed ?? Date.now() % 2 ** 31);
  const cores = availableParallelism();
  const removeFiles = setUpInMemory();
  process.stdout.write(`${count(requested)} random histories, on ${cores} cores, with seed ${seed}\n`);
  let histories = 0;
  let pairs = 0;
  try {
    const shares = Array.from({ length: cores }, (_, n) => Math.floor((requested + n) / cores));
    await Promise.all(
      shares.map(async (share, n) => {
        const workerData: Share = { histories: share, seed: seed + n };
        const worker = new Worker(new URL(import.meta.url), { workerData });
        worker.on("message", (proven: number) => {
          histories++;
          pairs += proven;
          if (histories % reportInterval === 0) process.stdout.write(`${count(histories)} are exact\n`);
        });
        await once(worker, "exit");
      }),
    );
  } finally {
    removeFiles();
  }
  process.stdout.write(
    `${count(histories)} histories: each run shows what it showed, and each diff between two runs, ${count(2 * pairs)} of them, gives the one state from the other.\n`,
  );
}
