/** Having requests sent by workers elsewhere: what a sync needs to know of them, and the sender that reaches them. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { Clock } from "../service/clock.ts";
import type { Credential } from "../service/credential.ts";
import type { Sender } from "../service/sender.ts";

export interface WorkersOptions {
  /** The address of the Redis that the workers are at: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** Whose credential they use: an account's name; `catalogue` unless told. */
  readonly principal?: string;
  /** Told what somebody may want to do something about: that no worker is there, that Redis is away. */
  readonly onRemark?: (text: string) => void;
}

/** What the catalogue's own requests are sent as. */
export const cataloguePrincipal = "catalogue";

/** As many requests are under way where workers send them: eight workers of eight are kept busy. */
export const workersConcurrency = 64;

export interface WorkersContext {
  /** The mirror's file. */
  readonly file: string;
  readonly baseUrl: string;
  readonly credential: Credential | null;
  readonly clock: Clock;
}

export interface Workers {
  /** Once the mirror is locked: answers go to the one who writes it, and there must be no two. */
  openSender(context: WorkersContext): Promise<Sender>;
  close(): void;
}

/** @throws RedisError */
export async function reachWorkers(options: WorkersOptions): Promise<Workers> {
  const { principal = cataloguePrincipal, onRemark = () => {} } = options;
  // Loaded where it is wanted: without workers nothing of it is needed.
  const [{ connectRedis }, { openQueueSender }] = await Promise.all([
    import("../../jobs/bullmq/redis.ts"),
    import("../../jobs/bullmq/queue-sender.ts"),
  ]);
  const redis = await connectRedis(options.redis);
  return {
    openSender: ({ file, baseUrl, credential, clock }) =>
      openQueueSender({
        ...{ redis, principal: { name: principal, baseUrl, credential }, clock, onRemark },
        mailbox: createHash("sha256")
          .update(`${hostname()}\0${resolve(file)}`)
          .digest("hex")
          .slice(0, 16),
      }),
    close: redis.end,
  };
}
