/**
 * The connection to Redis. In: an address. Out: a client of a suitable Redis, which reconnects for as long as it
 * takes. Redis holds nothing that the mirror cannot restore.
 */

import type { Telemetry } from "bullmq";
import { Redis } from "ioredis";
import { messageOf } from "../../src/platform/errors.ts";
import { hideSecret, redact } from "../../src/service/credentials/credential.ts";
import { isRejected, RedisError } from "./errors.ts";

const connectTimeoutMillis = 5000;
const maxReconnectMillis = 2000;
const disconnectMillis = 300;
/** A shorter interruption is not reported. */
const reportAfterMillis = 1000;

/** Text without the password. */
type Hide = (text: string) => string;

export interface RedisConnection {
  readonly client: Redis;
  /** The address without user and password. */
  readonly shownAs: string;
  /** Follows jobs with OpenTelemetry. Default: nothing does. */
  readonly telemetry?: Telemetry | undefined;
  /** Disconnects for good, with all connections that share the client. */
  end(): void;
}

/**
 * @param url `redis:`, `rediss:`, or the path of a socket
 * @param onWarning receives each loss of the connection, and its return
 * @throws RedisError `bad-address`; `unreachable`, after at most five seconds; `unsuitable`
 */
export async function connectRedis(
  url: string,
  onWarning: (text: string) => void = () => {},
): Promise<RedisConnection> {
  const shownAs = showAddress(url);
  let isConnected = false;
  let lastError: Error | null = null;
  const isEncrypted = URL.canParse(url) && new URL(url).protocol === "rediss:";
  const client = new Redis(url, {
    // Also with NODE_TLS_REJECT_UNAUTHORIZED=0.
    ...(isEncrypted && { tls: { rejectUnauthorized: true } }),
    // BullMQ requires this: commands wait until Redis is back.
    maxRetriesPerRequest: null,
    // Commands of one turn of the event loop share a packet.
    enableAutoPipelining: true,
    lazyConnect: true,
    connectTimeout: connectTimeoutMillis,
    // ioredis waits for connections that are gone already, which keeps the process from ending.
    disconnectTimeout: disconnectMillis,
    retryStrategy: (times) => (isConnected ? Math.min(times * 100, maxReconnectMillis) : null),
    // The primary has become a replica: the address may lead to the new primary.
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  const { password = null } = client.options;
  // A Redis may repeat the password in an error, a setting or its certificate, and these are printed.
  const hide: Hide = password ? (text) => redact(hideSecret(password), text) : (text) => text;
  if (password) hideInErrors(client, hide);
  client.on("error", (error: Error) => {
    lastError = error;
  });
  try {
    const timer = setTimeout(() => client.disconnect(), connectTimeoutMillis);
    try {
      await client.connect();
      requireSuitable(await client.info(), shownAs);
      await requireDatabase(client, shownAs);
    } finally {
      clearTimeout(timer);
    }
  } catch (error) {
    client.disconnect();
    if (error instanceof RedisError) throw hideInError(error, hide);
    throw toRedisError(hideInError(lastError ?? error, hide), shownAs);
  }
  isConnected = true;
  reportInterruptions(client, shownAs, (text) => {
    if (isConnected) onWarning(text);
  });
  const watch = watchSettings(client, shownAs, (text) => onWarning(hide(text)));
  const end = () => {
    isConnected = false;
    clearInterval(watch);
    client.disconnect();
  };
  return { client, shownAs, end };
}

/** Changes an error, and returns it. */
function hideInError<Thrown>(error: Thrown, hide: Hide): Thrown {
  if (error instanceof Error) {
    error.message = hide(error.message);
    error.stack = hide(error.stack ?? "");
  }
  return error;
}

/** In the errors of all commands, also of duplicates of the client. */
function hideInErrors(client: Redis, hide: Hide): void {
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, stream) => {
    // Attached before any other handler, so that these get the changed error.
    command.promise.catch((error: unknown) => hideInError(error, hide));
    return send(command, stream);
  };
  const duplicate = client.duplicate.bind(client);
  client.duplicate = (options) => {
    const another = duplicate(options);
    hideInErrors(another, hide);
    return another;
  };
}

function reportInterruptions(client: Redis, shownAs: string, onWarning: (text: string) => void): void {
  let isReported = false;
  let timer: NodeJS.Timeout | undefined;
  client.on("close", () => {
    timer ??= setTimeout(() => {
      onWarning(`The connection to Redis at ${shownAs} is lost; requests wait until it is back.`);
      isReported = true;
    }, reportAfterMillis).unref();
  });
  client.on("ready", () => {
    clearTimeout(timer);
    timer = undefined;
    if (isReported) onWarning(`The connection to Redis at ${shownAs} is back.`);
    isReported = false;
  });
}

const checkMillis = 60_000;

/** Its settings can be changed while it runs, and another Redis may have its address after a failover. */
function watchSettings(client: Redis, shownAs: string, onWarning: (text: string) => void): NodeJS.Timeout {
  let lastProblem = "";
  const check = async (): Promise<void> => {
    let problem = "";
    try {
      requireSuitable(await client.info(), shownAs);
    } catch (error) {
      // A lost connection is reported elsewhere.
      if (!(error instanceof RedisError)) return;
      problem = `${error.message} ${error.hint}`;
    }
    if (problem !== "" && problem !== lastProblem) onWarning(problem);
    lastProblem = problem;
  };
  client.on("ready", () => void check());
  return setInterval(() => client.status === "ready" && void check(), checkMillis).unref();
}

const minVersion = [6, 2] as const;

/** @throws RedisError `unsuitable` */
function requireSuitable(info: string, shownAs: string): void {
  const fields = new Map(info.split(/\r?\n/).map((line) => line.split(":", 2) as [string, string]));
  const unsuitable = (problem: string, hint: string): never => {
    throw new RedisError("unsuitable", `The Redis at ${shownAs} ${problem}.`, hint);
  };
  const version = fields.get("redis_version") ?? "0";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < minVersion[0] || (major === minVersion[0] && minor < minVersion[1])) {
    unsuitable(`has version ${version}`, `Use Redis ${minVersion.join(".")} or later.`);
  }
  if (fields.get("role") === "slave") {
    unsuitable("is a read-only replica", "Give the address of its primary.");
  }
  const policy = fields.get("maxmemory_policy") ?? "noeviction";
  if (policy !== "noeviction") {
    unsuitable(
      `evicts keys when its memory is full (maxmemory-policy ${policy}), and would lose jobs`,
      "Set `maxmemory-policy noeviction` in redis.conf, or run: redis-cli config set maxmemory-policy noeviction",
    );
  }
}

/** ioredis would go on with database 0. @throws RedisError `unsuitable` */
async function requireDatabase(client: Redis, shownAs: string): Promise<void> {
  const { db = 0 } = client.options;
  // A user of Redis may lack the right to SELECT, which the first database does not need.
  if (db === 0) return;
  try {
    await client.select(db);
  } catch (error) {
    if (!isRejected(error) || isForbidden(error)) throw error;
    const hint = "Choose a lower number, or raise `databases` in redis.conf.";
    throw new RedisError("unsuitable", `Redis has no database of this number: ${shownAs}`, hint);
  }
}

/** ioredis would take a password from it, or turn off the check of certificates. */
const hasQuery = () =>
  new RedisError(
    "bad-address",
    "The address of Redis has a query or a fragment.",
    "Leave out ? and #, and what follows them.",
  );

/** @throws RedisError `bad-address` */
function showAddress(url: string): string {
  if (url.startsWith("/")) {
    if (/[?#]/.test(url)) throw hasQuery();
    return url;
  }
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !["redis:", "rediss:"].includes(parsed.protocol) || parsed.host === "") {
    // The message omits the address, which may contain a password.
    throw new RedisError(
      "bad-address",
      "The address of Redis is neither redis://HOST:PORT nor rediss://HOST:PORT nor the path of a socket.",
      "For a Redis on this machine, use redis://127.0.0.1:6379.",
    );
  }
  if (parsed.search !== "" || parsed.hash !== "") throw hasQuery();
  if (!/^(\/\d*)?$/.test(parsed.pathname)) {
    throw new RedisError(
      "bad-address",
      "The path in the address of Redis is not the number of a database.",
      "For database 2 of a Redis on this machine, use redis://127.0.0.1:6379/2.",
    );
  }
  if (!isDecodable(parsed.username) || !isDecodable(parsed.password)) {
    throw new RedisError(
      "bad-address",
      "The user or password in the address of Redis has a % that is not part of a percent-encoded character.",
      "Write the percent sign as %25.",
    );
  }
  return `${parsed.protocol}//${parsed.host}${parsed.pathname === "/" ? "" : parsed.pathname}`;
}

function isDecodable(text: string): boolean {
  try {
    // With the result in use: a bundler removes the call otherwise, since it does not know that it may throw.
    return typeof decodeURIComponent(text) === "string";
  } catch {
    return false;
  }
}

const isForbidden = (error: unknown): boolean => /NOAUTH|WRONGPASS|NOPERM/.test(messageOf(error));

function toRedisError(error: unknown, shownAs: string): RedisError {
  const reason = messageOf(error);
  if (isForbidden(error)) {
    return new RedisError(
      "unsuitable",
      `The Redis at ${shownAs} requires another user or password.`,
      "Set them in ARMOIRE_REDIS_URL (redis://USER:PASSWORD@HOST:PORT), or in the file of ARMOIRE_REDIS_URL_FILE.",
      { cause: error },
    );
  }
  // ioredis says this of a connection that the timer above has closed.
  const shownReason = reason === "Connection is closed." ? "no response within 5 s" : reason;
  return new RedisError(
    "unreachable",
    `Redis at ${shownAs} cannot be reached: ${shownReason}`,
    "Start Redis, or correct the address. Without --redis, no Redis is needed.",
    { cause: error },
  );
}
