/**
 * Which run over a mirror is there now: nothing is sent for any other. It listens on a channel of its own, which ends with its
 * process; and a key names it, which a later run over the mirror takes over, and which lapses where a machine has lost its power.
 */
import type { Redis } from "ioredis";
import { RedisError } from "./errors.ts";
import { keyPrefix, type RedisConnection } from "./redis.ts";

const lapsesMillis = 10_000;
const renewMillis = 2_500;

/** @param mirror its name in Redis, which says nothing of where it is */
export const responseQueueName = (mirror: string): string => `answers-${mirror}`;

/** @param answersTo the queue of answers: a mirror has one, and one run at a time */
const keyOf = (answersTo: string): string => `${keyPrefix}:coordinator:${answersTo}`;
const channelOf = (coordinator: string): string => `${keyPrefix}:run:${coordinator}`;

export interface Heartbeat {
  /** Says so again, now: Redis may have lost it. @returns why workers cannot see it; null where they can */
  renew(): Promise<string | null>;
  /** May be called again. */
  end(): Promise<void>;
}

/**
 * Where Redis cannot note it, nothing is sent until it can.
 * @throws RedisError `unsuitable` where its user may not listen
 */
export async function startHeartbeat(
  { client, shownAs }: RedisConnection,
  answersTo: string,
  coordinator: string,
): Promise<Heartbeat> {
  const key = keyOf(answersTo);
  // What it does of itself when it is back, it does not tell of when that fails.
  const listener = client.duplicate({ autoResubscribe: false });
  const listen = () => listener.subscribe(channelOf(coordinator));
  // What is wrong with the connection shows in the calls.
  listener.on("error", () => {});
  const noteAndListen = async (): Promise<string | null> => {
    try {
      await Promise.all([client.set(key, coordinator, "PX", lapsesMillis), listen()]);
      if (await isRunAlive(client, answersTo, coordinator)) return null;
      // It listens elsewhere, such as at a primary of before.
      listener.disconnect(true);
      return "it is not seen yet";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  let renewing: Promise<string | null> | null = null;
  // While Redis is away, one renewal waits for it, not one for each time.
  const renew = (): Promise<string | null> => {
    renewing ??= noteAndListen().finally(() => {
      renewing = null;
    });
    return renewing;
  };
  await listen().catch((error: Error) => {
    if (!error.message.startsWith("NOPERM")) return;
    listener.disconnect();
    throw new RedisError(
      "unsuitable",
      `The Redis at ${shownAs} does not let this user listen on channels.`,
      `Allow it those of Armoire: ACL SETUSER NAME &${keyPrefix}:run:*`,
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

/** Whether a run is there at this moment. */
export async function isRunAlive(client: Redis, answersTo: string, coordinator: string): Promise<boolean> {
  const [named, [, listeners]] = await Promise.all([
    client.get(keyOf(answersTo)),
    client.pubsub("NUMSUB", channelOf(coordinator)),
  ]);
  return named === coordinator && Number(listeners) > 0;
}

/** Whether any run over a mirror is there, or was within the last seconds. */
export async function hasLiveRun(client: Redis, mirror: string): Promise<boolean> {
  return (await client.exists(keyOf(responseQueueName(mirror)))) === 1;
}
