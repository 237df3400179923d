/**
 * The connection to Redis, and whether that Redis will do. In: an address. Out: a client that comes back by itself for as
 * long as it takes, once it was there. Nothing of ours is kept in Redis that the mirror does not have.
 */
import { Redis } from "ioredis";
import { RedisError } from "./errors.ts";

/** Beside others who use the same Redis; another one for each major version of the library, whose keys differ. */
export const keyPrefix = "armoire:bullmq6";

/** The queue that a key is BullMQ's own of, of which each queue has one: a hash. */
export function queueOfKey(key: string): string | null {
  return queueOfMeta.exec(key)?.[1] ?? null;
}
const queueOfMeta = new RegExp(`^${keyPrefix}:([^:]+):meta$`);

const oldest = [6, 2] as const;
const patienceMillis = 5000;
const mostReconnectMillis = 2000;
const goodbyeMillis = 300;
/** One that is back sooner is not worth a word. */
const noticedMillis = 1000;

export interface RedisConnection {
  readonly client: Redis;
  /** The address without user and password. */
  readonly shownAs: string;
  /** For good: neither it nor what was made from it comes back. */
  end(): void;
}

/**
 * @param url `redis:`, `rediss:`, or the path of a socket
 * @param onWarning told that it is gone, and that it is back
 * @throws RedisError `bad-address`, `unreachable` within five seconds, `unsuitable`
 */
export async function connectRedis(
  url: string,
  onWarning: (text: string) => void = () => {},
): Promise<RedisConnection> {
  const shownAs = showAddress(url);
  let isThere = false;
  let lastError: Error | null = null;
  const client = new Redis(url, {
    // What BullMQ asks for: a command waits until Redis is back.
    maxRetriesPerRequest: null,
    // What is said within one turn of the event loop goes over the wire together.
    enableAutoPipelining: true,
    lazyConnect: true,
    connectTimeout: patienceMillis,
    // One that is gone already is waited for as well, and keeps the process from ending.
    disconnectTimeout: goodbyeMillis,
    retryStrategy: (times) => (isThere ? Math.min(times * 100, mostReconnectMillis) : null),
    // A primary that became a replica: the address may lead to the new primary.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  client.on("error", (error: Error) => {
    lastError = error;
  });
  try {
    const timer = setTimeout(() => client.disconnect(), patienceMillis);
    try {
      await client.connect();
      requireSuitable(await client.info(), shownAs);
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    client.disconnect();
    if (error instanceof RedisError) throw error;
    throw toRedisError(lastError ?? error, shownAs);
  }
  isThere = true;
  let isToldGone = false;
  let noticing: NodeJS.Timeout | undefined;
  client.on("close", () => {
    noticing ??= setTimeout(() => {
      if (isThere) onWarning(`Redis at ${shownAs} is gone: everything waits until it is back.`);
      isToldGone = true;
    }, noticedMillis).unref();
  });
  client.on("ready", () => {
    clearTimeout(noticing);
    noticing = undefined;
    if (isToldGone) onWarning(`Redis at ${shownAs} is back.`);
    isToldGone = false;
  });
  const end = () => {
    isThere = false;
    client.disconnect();
  };
  return { client, shownAs, end };
}

/** @throws RedisError `unsuitable` */
export function requireSuitable(info: string, shownAs: string): void {
  const facts = new Map(info.split(/\r?\n/).map((line) => line.split(":", 2) as [string, string]));
  const unsuitable = (what: string, hint: string): never => {
    throw new RedisError("unsuitable", `The Redis at ${shownAs} ${what}.`, hint);
  };
  const version = facts.get("redis_version") ?? "0";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    unsuitable(`is of version ${version}`, `Use Redis ${oldest.join(".")} or later.`);
  }
  if (facts.get("role") === "slave") {
    unsuitable("is a replica, which cannot be written", "Give the address of its primary.");
  }
  const policy = facts.get("maxmemory_policy") ?? "noeviction";
  if (policy !== "noeviction") {
    unsuitable(
      `throws keys away when its memory is full (maxmemory-policy ${policy}), jobs among them`,
      "Set `maxmemory-policy noeviction` in redis.conf, or run: redis-cli config set maxmemory-policy noeviction",
    );
  }
}

/** @throws RedisError `bad-address` */
export function showAddress(url: string): string {
  if (url.startsWith("/")) return url;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !["redis:", "rediss:"].includes(parsed.protocol) || parsed.host === "") {
    // The text itself may hold a password.
    throw new RedisError(
      "bad-address",
      "The address of Redis is neither redis://HOST:PORT nor rediss://HOST:PORT nor the path of a socket.",
      "For one on this machine: redis://127.0.0.1:6379",
    );
  }
  if (!isDecodable(parsed.username) || !isDecodable(parsed.password)) {
    throw new RedisError(
      "bad-address",
      "The user or password in the address of Redis has a % that begins no encoded letter.",
      "Write it as %25.",
    );
  }
  return `${parsed.protocol}//${parsed.host}${parsed.pathname === "/" ? "" : parsed.pathname}`;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function toRedisError(error: unknown, shownAs: string): RedisError {
  const reason = error instanceof Error ? error.message : String(error);
  const isRefused = /NOAUTH|WRONGPASS|NOPERM/.test(reason);
  if (isRefused) {
    return new RedisError(
      "unsuitable",
      `The Redis at ${shownAs} wants another user or password.`,
      "Put them into ARMOIRE_REDIS_URL (redis://USER:PASSWORD@HOST:PORT), or into the file that ARMOIRE_REDIS_URL_FILE names.",
      { cause: error },
    );
  }
  return new RedisError(
    "unreachable",
    `There is no Redis at ${shownAs}: ${reason === "Connection is closed." ? "it did not answer within 5 s" : reason}`,
    "Start it, or correct the address. Without --redis nothing of it is needed.",
    { cause: error },
  );
}
