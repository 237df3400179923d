/** Having requests sent by workers elsewhere: what a sync needs to know of them, and the sender that reaches them. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { resolve } from "node:path";
import type { RunMetrics } from "../../jobs/bullmq/run-metrics.ts";
import { cataloguePrincipal } from "../accounts/account.ts";
import type { Clock } from "../platform/clock.ts";
import type { Credential } from "../service/credentials/credential.ts";
import type { Transport } from "../service/transport/transport.ts";

export interface WorkersOptions {
  /** The address of the Redis that the workers are at: `redis:`, `rediss:`, or the path of a socket. */
  readonly redis: string;
  /** Whose credential they use: an account's name; `catalogue` unless told. */
  readonly principal?: string;
  /** Told what somebody may want to do something about: that no worker is there, that Redis is away. */
  readonly onRemark?: (text: string) => void;
}

/** As many requests are under way where workers send them: eight workers of eight are kept busy. */
export const workersConcurrency = 64;

export interface WorkersContext {
  /** The mirror's file. */
  readonly file: string;
  /** The mirror's own mark; two machines may have mirrors at the same place. */
  readonly lineage: string | null;
  readonly baseUrl: string;
  readonly credential: Credential | null;
  readonly clock: Clock;
}

export interface Workers {
  /** Once the mirror is locked: answers go to the one who writes it, and there must be no two. */
  openSender(context: WorkersContext): Promise<Transport>;
  /** Where the run is told of, for whoever watches. */
  openState(context: WorkersContext): RunMetrics;
  close(): void;
}

/** @throws RedisError */
export async function reachWorkers(options: WorkersOptions): Promise<Workers> {
  const { principal = cataloguePrincipal, onRemark = () => {} } = options;
  // Loaded where it is wanted: without workers nothing of it is needed.
  const [
    { connectRedis },
    { openRedisTransport: openQueueSender },
    { openRunMetrics: openCoordinatorState },
  ] = await Promise.all([
    import("../../jobs/bullmq/redis.ts"),
    import("../../jobs/bullmq/coordinator/redis-transport.ts"),
    import("../../jobs/bullmq/run-metrics.ts"),
  ]);
  const redis = await connectRedis(options.redis, onRemark);
  const as = ({ baseUrl, credential }: WorkersContext) => ({ name: principal, baseUrl, credential });
  return {
    openSender: (context) =>
      openQueueSender({
        redis,
        principal: as(context),
        clock: context.clock,
        onRemark,
        mailbox: mailboxOf(context),
      }),
    openState: (context) =>
      openCoordinatorState(redis.client, as(context), mailboxOf(context), context.clock.now),
    close: redis.end,
  };
}

/** Of this mirror on this machine, and of no other; it says neither. */
function mailboxOf({ file, lineage }: WorkersContext): string {
  return createHash("sha256")
    .update(`${lineage}\0${hostname()}\0${resolve(file)}`)
    .digest("hex")
    .slice(0, 16);
}
