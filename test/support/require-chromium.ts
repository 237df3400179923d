/** Before all tests: makes sure that Chromium exists, and installs it if possible. No test is skipped without it. */
import { spawnSync } from "node:child_process";
import type { TestProject } from "vitest/node";

const names = ["chromium", "chromium-browser", "google-chrome"];

const find = (): string | undefined =>
  names.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);

export default function setup({ provide }: TestProject): void {
  const found = find() ?? install();
  if (found === undefined)
    throw new Error(
      "The tests of pages need the browser Chromium (Debian: `sudo apt-get install chromium`).",
    );
  provide("chromium", pathOf(found));
}

/** The path of the program, if it is installed. */
export function findChromium(): string | undefined {
  const found = find();
  return found === undefined ? undefined : pathOf(found);
}

const pathOf = (name: string): string =>
  spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();

function install(): string | undefined {
  const isDebianAsRoot = process.geteuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;
  if (!isDebianAsRoot) return undefined;
  process.stderr.write("The tests need chromium, which is not here: installing it with apt-get…\n");
  // Another installation may hold the lock for a while.
  const options = "-qq -o DPkg::Lock::Timeout=300";
  spawnSync(
    "sh",
    ["-c", `apt-get ${options} update && apt-get ${options} install -y --no-install-recommends chromium`],
    {
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  return find();
}

declare module "vitest" {
  export interface ProvidedContext {
    /** The path of the program. */
    chromium: string;
  }
}
