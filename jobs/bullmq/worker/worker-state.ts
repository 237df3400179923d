/**
 * What a worker process shows of itself in Redis: who it is, whether its credentials are accepted, and its last jobs. In: its
 * figures. Out: one key, which expires when the process no longer renews it. Nothing acts on it.
 */
import { hostname } from "node:os";
import type { Redis } from "ioredis";
import { z } from "zod";
import packageJson from "../../../package.json" with { type: "json" };
import { withTimeout } from "../async.ts";
import { type Entries, readKeys, timeMillis } from "../entries/read-entries.ts";
import { scanKeyNames } from "../entries/scan-keys.ts";
import { keyPrefix } from "../queue-names.ts";
import { workerName } from "../queues.ts";

/** Of an account, it has no label. */
const lastJob = z.object({
  kind: z.string(),
  label: z.string().nullable(),
  /** Epoch milliseconds. */
  at: timeMillis,
});
export type LastJob = Readonly<z.infer<typeof lastJob>>;

/** `unused`: requests wait for workers with another one. `unknown`: there was no response yet. */
const credentialState = z.enum(["accepted", "refused", "unused", "unknown", "none"]);
export type CredentialState = z.infer<typeof credentialState>;

const workerState = z.object({
  host: z.string(),
  pid: z.int(),
  version: z.string(),
  /** Epoch milliseconds. */
  startedAt: timeMillis,
  principals: z.array(
    z.object({
      name: z.string(),
      /** Such as `api.example`. */
      service: z.string(),
      acceptsJobs: z.boolean(),
      credential: credentialState,
      lastJob: lastJob.nullable(),
      /** Requests that it has sent. */
      sent: z.int(),
    }),
  ),
});
export type WorkerState = Readonly<z.infer<typeof workerState>>;

const lifetimeMillis = 30_000;
const renewMillis = 5_000;
const endTimeoutMillis = 500;
const keyOf = (name: string): string => `${keyPrefix}:worker:${name}`;

/** @returns a function that removes it */
export function publishWorker(
  client: Redis,
  startedAt: number,
  readPrincipals: () => WorkerState["principals"],
): () => Promise<void> {
  const key = keyOf(workerName);
  const publish = (): void => {
    if (client.status !== "ready") return;
    const state: WorkerState = {
      ...{ host: hostname(), pid: process.pid, version: packageJson.version, startedAt },
      principals: readPrincipals(),
    };
    // The next one has these figures, too.
    client.set(key, JSON.stringify(state), "PX", lifetimeMillis).catch(() => {});
  };
  publish();
  const timer = setInterval(publish, renewMillis).unref();
  return async () => {
    clearInterval(timer);
    if (client.status === "ready") await withTimeout(endTimeoutMillis, () => client.del(key));
  };
}

/** The workers that are there now, by host and process. One of another version may have another form. */
export async function readWorkers(client: Redis): Promise<Entries<WorkerState>> {
  const names: string[] = [];
  for await (const name of scanKeyNames(client, { namePattern: "worker:*" })) names.push(name);
  return await readKeys(client, names.sort(), async (name) => {
    const text = await client.get(name);
    return text === null ? null : workerState.parse(JSON.parse(text));
  });
}
