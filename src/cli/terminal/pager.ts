/** Shows long text one screen at a time, in the pager of the user's choice. */
import { spawnSync } from "node:child_process";

type Environment = Readonly<Record<string, string | undefined>>;

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
      env: { LESS: lessOptions, ...withoutSecrets(env) },
    });
    // EPIPE: the reader left the pager before the end.
    return error === undefined || ("code" in error && error.code === "EPIPE");
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** A pager can start a shell and write files. */
function withoutSecrets(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("ARMOIRE_")));
}
