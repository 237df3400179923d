/**
 * The system's keychain, asked by a process of its own: a keychain may wait for its user to unlock it, and native code that
 * waits can be ended only with its process. That process gets the secret through a pipe, never as an argument or in its
 * environment.
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { type Keychain, type KeychainAnswer, KeychainError, type KeychainRequest } from "./keychain.ts";

export interface SystemKeychainOptions {
  /** Of this, the process gets what it takes to find the keychain, and nothing else. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called where it takes longer than a keychain does that is unlocked. */
  readonly onWait?: () => void;
  /** How long somebody may take to unlock it, in milliseconds; a minute unless told. */
  readonly deadlineMillis?: number;
}

const remarkAfterMillis = 2000;
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

/** Loads nothing until it is asked. */
export function systemKeychain(options: SystemKeychainOptions): Keychain {
  return {
    async get(entry) {
      const { secret } = await ask({ do: "get", entry }, options);
      return secret;
    },
    async set(entry, secret) {
      await ask({ do: "set", entry, secret }, options);
    },
    async delete(entry) {
      await ask({ do: "delete", entry }, options);
    },
  };
}

/** @throws KeychainError where no keychain can be running */
function environmentFrom(env: SystemKeychainOptions["env"]): Record<string, string | undefined> {
  const needed = Object.fromEntries(neededVariables.map((name) => [name, env[name]]));
  if (process.platform !== "linux" || needed.DBUS_SESSION_BUS_ADDRESS) return needed;
  // Cron sets neither variable; where the user is logged in, her keychain can be reached all the same.
  const bus = `${needed.XDG_RUNTIME_DIR ?? `/run/user/${process.geteuid?.()}`}/bus`;
  if (existsSync(bus)) return { ...needed, DBUS_SESSION_BUS_ADDRESS: `unix:path=${bus}` };
  throw new KeychainError("nobody is logged in to a desktop here (no session bus)");
}

type Done = Extract<KeychainAnswer, { readonly secret: unknown }>;

async function ask(
  request: KeychainRequest,
  { env, onWait = () => {}, deadlineMillis = 60_000 }: SystemKeychainOptions,
): Promise<Done> {
  const child = fork(program, [], {
    env: environmentFrom(env),
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const answered = Promise.withResolvers<Done>();
  const fail = (why: string) => answered.reject(new KeychainError(why));
  const remark = setTimeout(onWait, Math.min(remarkAfterMillis, deadlineMillis));
  const deadline = setTimeout(
    () => fail(`it did not answer within ${deadlineMillis / 1000} s`),
    deadlineMillis,
  );
  child.on("message", (answer: KeychainAnswer) => {
    if ("problem" in answer) fail(answer.problem);
    else answered.resolve(answer);
  });
  child.on("error", (error) => fail(error.message));
  child.on("exit", (code, signal) => fail(`the process that asks it ended with ${signal ?? code}`));
  child.send(request);
  try {
    return await answered.promise;
  } finally {
    clearTimeout(remark);
    clearTimeout(deadline);
    child.kill("SIGKILL");
  }
}
