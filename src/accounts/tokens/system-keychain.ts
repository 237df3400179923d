/**
 * The system's keychain, accessed by a process of its own: it may wait for the user to unlock it, and waiting native code
 * ends only with its process. The secret goes through a pipe, never through arguments or the environment.
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { endProcess, startErrorOf } from "../../platform/watched-processes.ts";
import { type Keychain, KeychainError, type KeychainRequest, type KeychainResponse } from "./keychain.ts";

export interface SystemKeychainOptions {
  /** The process gets only the variables that are needed to find the keychain. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called if the keychain is slow, probably because it is locked. */
  readonly onWait?: () => void;
  /** How long the user may take to unlock it. Default: 60,000. */
  readonly deadlineMillis?: number;
}

const noticeAfterMillis = 2000;
const program = join(import.meta.dirname, `keychain-child${extname(import.meta.filename)}`);

const neededVariables = [
  "DBUS_SESSION_BUS_ADDRESS",
  "XDG_RUNTIME_DIR",
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "HOME",
  "USER",
  "LOGNAME",
  "PATH",
  "LANG",
  "SystemRoot",
  "USERPROFILE",
  "APPDATA",
  "LOCALAPPDATA",
];

/** Starts no process until it is used. */
export function systemKeychain(options: SystemKeychainOptions): Keychain {
  return {
    async get(entry) {
      const { secret } = await request({ do: "get", entry }, options);
      return secret;
    },
    async set(entry, secret) {
      await request({ do: "set", entry, secret }, options);
    },
    async delete(entry) {
      await request({ do: "delete", entry }, options);
    },
  };
}

/** @throws KeychainError if no keychain can be running */
function environmentFrom(env: SystemKeychainOptions["env"]): Record<string, string | undefined> {
  const needed = Object.fromEntries(neededVariables.map((name) => [name, env[name]]));
  if (process.platform !== "linux" || needed.DBUS_SESSION_BUS_ADDRESS) return needed;
  // Cron sets neither variable, but the keychain of a logged-in user can still be reached.
  const bus = `${needed.XDG_RUNTIME_DIR ?? `/run/user/${process.geteuid?.()}`}/bus`;
  if (existsSync(bus)) return { ...needed, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` };
  throw new KeychainError("no desktop session is running (no session bus)");
}

type Result = Extract<KeychainResponse, { readonly secret: unknown }>;

async function request(
  message: KeychainRequest,
  { env, onWait = () => {}, deadlineMillis = 60_000 }: SystemKeychainOptions,
): Promise<Result> {
  const child = fork(program, [], {
    env: environmentFrom(env),
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const startError = await startErrorOf(child);
  if (startError) throw new KeychainError(startError.message, { cause: startError });
  const response = Promise.withResolvers<Result>();
  const fail = (why: string) => response.reject(new KeychainError(why));
  const notice = setTimeout(onWait, Math.min(noticeAfterMillis, deadlineMillis));
  const deadline = setTimeout(() => fail(`no response within ${deadlineMillis / 1000} s`), deadlineMillis);
  child.on("message", (received: KeychainResponse) => {
    if ("problem" in received) fail(received.problem);
    else response.resolve(received);
  });
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => fail(`the keychain process ended with ${signal ?? code}`));
  child.send(message);
  try {
    return await response.promise;
  } finally {
    clearTimeout(notice);
    clearTimeout(deadline);
    endProcess(child, "SIGKILL");
  }
}
