/** Starts programs of the user's choice: a pager and a browser. They get no secrets. */
import { spawn, spawnSync } from "node:child_process";

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of another program: without tokens, secrets and passphrases, and the files that have them. */
export const withoutSettings = (env: Environment): Environment =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("ARMOIRE_") && name !== "CREDENTIALS_DIRECTORY"),
  );

/** `less` ends by itself if the text fits the screen (F), keeps colours (R) and leaves the text there (X). */
const lessOptions = "FRX";

/**
 * @param env `PAGER` names the program, with arguments; an empty text means none. Default: less
 * @returns whether the text was shown; false without a pager
 */
export function showInPager(text: string, env: Environment): boolean {
  const [program, ...args] = (env.PAGER ?? "less").split(/\s+/).filter((word) => word !== "");
  if (program === undefined) return false;
  // Ctrl-C is for the pager. Without a listener it would end this process, but not the pager.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  try {
    const { error } = spawnSync(program, args, {
      input: text,
      stdio: ["pipe", "inherit", "inherit"],
      // A pager can start a shell and write files.
      env: { LESS: lessOptions, ...withoutSettings(env) },
    });
    // EPIPE: the reader left the pager before the end.
    return error === undefined || ("code" in error && error.code === "EPIPE");
  } finally {
    process.off("SIGINT", ignore);
  }
}

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** @param address without a secret: other users can read the arguments of a process @returns false if there is no browser */
export async function openBrowser(address: string, env: Environment): Promise<boolean> {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const opener = spawn(command, [...args, address], {
    stdio: "ignore",
    detached: true,
    env: withoutSettings(env),
  });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  opener.once("error", () => resolve(false)).once("spawn", () => resolve(true));
  opener.unref();
  return await promise;
}
