/**
 * Shows workers that a run is alive: they send requests for no other. A live run has two marks in Redis. It listens
 * on a channel, which ends with its process. And a key names it as the current run of its mirror: the next run
 * overwrites the key, and after a power failure the key expires.
 */

import type { Redis } from "ioredis";
import { messageOf } from "../../src/platform/errors.ts";
import { RedisError } from "./errors.ts";
import { keyPrefix, responseQueueName } from "./queue-names.ts";
import type { RedisConnection } from "./redis.ts";

const keyLifetimeMillis = 10_000;
const renewMillis = 2_500;

/** A mirror has one queue of responses, and one run at a time. */
const currentRunKey = (responseQueue: string): string => `${keyPrefix}:coordinator:${responseQueue}`;
const channelOf = (coordinatorId: string): string => `${keyPrefix}:run:${coordinatorId}`;

export interface Heartbeat {
  /** Restores both marks now, which Redis may have lost. @returns why workers cannot see them; null if they can */
  renew(): Promise<string | null>;
  /** May be called again. */
  end(): Promise<void>;
}

/**
 * While Redis cannot store the marks, workers send nothing.
 * @param beforeListening called before each start of listening: Redis may have restarted with an older state
 * @throws RedisError `unsuitable` if the Redis user may not listen on channels
 */
export async function startHeartbeat(
  { client, shownAs }: RedisConnection,
  responseQueue: string,
  coordinatorId: string,
  beforeListening: () => Promise<void>,
): Promise<Heartbeat> {
  const key = currentRunKey(responseQueue);
  // A new connection would listen without a report of a failure, and without the call before it.
  const listener = client.duplicate({ autoResubscribe: false, autoResendUnfulfilledCommands: false });
  let isListening = false;
  let lostConnections = 0;
  listener.on("close", () => {
    isListening = false;
    lostConnections++;
  });
  const listen = async (): Promise<void> => {
    if (isListening) return;
    // It waits for the connection.
    await listener.ping();
    const lostBefore = lostConnections;
    await beforeListening();
    if (listener.status !== "ready" || lostConnections !== lostBefore)
      throw new Error("the connection was lost");
    await listener.subscribe(channelOf(coordinatorId));
    isListening = true;
  };
  // A failure of the connection shows in the calls.
  listener.on("error", () => {});
  const setMarks = async (): Promise<string | null> => {
    try {
      await Promise.all([client.set(key, coordinatorId, "PX", keyLifetimeMillis), listen()]);
      if (await isRunAlive(client, responseQueue, coordinatorId)) return null;
      // It listens at another server, such as a former primary.
      listener.disconnect(true);
      return "Redis does not show it yet";
    } catch (error) {
      return messageOf(error);
    }
  };
  let renewing: Promise<string | null> | null = null;
  // While Redis is unreachable, only one renewal waits for it.
  const renew = (): Promise<string | null> => {
    renewing ??= setMarks().finally(() => {
      renewing = null;
    });
    return renewing;
  };
  await listen().catch((error: Error) => {
    if (!error.message.startsWith("NOPERM")) return;
    listener.disconnect();
    throw new RedisError(
      "unsuitable",
      `The user of the Redis at ${shownAs} has no permission to listen on channels.`,
      `Allow the channels of Armoire: ACL SETUSER NAME &${keyPrefix}:run:*`,
      { cause: error },
    );
  });
  await renew();
  listener.on("ready", () => void listen().catch(() => {}));
  const timer = setInterval(() => void renew(), renewMillis).unref();
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    clearInterval(timer);
    listener.disconnect();
    await client.del(key);
  };
  return {
    renew,
    end() {
      ended ??= end();
      return ended;
    },
  };
}

/** Whether this run is alive now, and still the current one of its mirror. */
export async function isRunAlive(
  client: Redis,
  responseQueue: string,
  coordinatorId: string,
): Promise<boolean> {
  const [currentRun, [, listeners]] = await Promise.all([
    client.get(currentRunKey(responseQueue)),
    client.pubsub("NUMSUB", channelOf(coordinatorId)),
  ]);
  return currentRun === coordinatorId && Number(listeners) > 0;
}

/** Whether any run of a mirror is alive, or was within the last ten seconds. */
export async function hasLiveRun(client: Redis, mirrorKey: string): Promise<boolean> {
  return (await client.exists(currentRunKey(responseQueueName(mirrorKey)))) === 1;
}
