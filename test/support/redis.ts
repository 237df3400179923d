/** A Redis server for one test, on a socket in its own folder. The test can kill, freeze and restart it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { temporaryFolder } from "./run-armoire.ts";

export interface RedisServer extends AsyncDisposable {
  /** Its socket as a value of `--redis`. */
  readonly url: string;
  /** A connection for the test. */
  readonly admin: Redis;
  /** Sends a signal to the process. */
  signal(name: NodeJS.Signals): void;
  /** `kill -9`. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with its data on disk. */
  start(): Promise<void>;
}

/** @param settings arguments of `redis-server`, such as `["--maxmemory", "3mb"]` */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const folder = await temporaryFolder();
  const socket = join(folder.path, "redis.sock");
  const options = [
    ...["--port", "0", "--unixsocket", socket, "--dir", folder.path],
    ...["--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction", ...settings],
  ];
  let server: ChildProcess;
  const password = settings[settings.indexOf("--requirepass") + 1];
  const admin = new Redis(socket, {
    ...(settings.includes("--requirepass") && password !== undefined && { password }),
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: () => 20,
  });
  admin.on("error", () => {});

  const start = async (): Promise<void> => {
    server = spawn("redis-server", options, { stdio: ["ignore", "ignore", "ignore"] });
    await once(server, "spawn");
    if (admin.status === "wait") await admin.connect().catch(() => {});
    await admin.ping();
  };
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, "exit");
    server.kill("SIGKILL");
    await exited;
  };
  await start();
  return {
    url: socket,
    admin,
    signal: (name) => void server.kill(name),
    kill,
    start,
    async [Symbol.asyncDispose]() {
      admin.disconnect();
      await kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/**
 * Watches all commands that a server without a password receives. A connection of ioredis fails if the first of them arrives
 * together with the answer to MONITOR.
 * @param onCommand gets a command and its arguments, in quotation marks
 */
export async function watchCommands(
  { url }: Pick<RedisServer, "url">,
  onCommand: (command: string) => void,
): Promise<Disposable> {
  const socket = connect(url);
  const { promise: watching, resolve } = Promise.withResolvers<void>();
  createInterface(socket).on("line", (line) => {
    if (line === "+OK") resolve();
    else onCommand(line.replaceAll('\\"', '"'));
  });
  socket.write("MONITOR\r\n");
  await watching;
  return { [Symbol.dispose]: () => void socket.destroy() };
}
