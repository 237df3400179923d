/** Before all tests: makes sure that Chromium exists, and installs it if possible. No test is skipped without it. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { TestProject } from "vitest/node";

const names = ["chromium", "chromium-browser", "google-chrome"];

/** Of macOS and Windows, which do not have it in PATH. */
const places = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** The path of the program, if it is installed. */
export function findChromium(): string | undefined {
  const name = names.find((one) => spawnSync(one, ["--version"], { stdio: "ignore" }).status === 0);
  if (name === undefined) return places.find((path) => existsSync(path));
  return spawnSync("sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).stdout.trim();
}

export default function setup({ provide }: TestProject): void {
  const found = findChromium() ?? install();
  if (found === undefined)
    throw new Error(
      "The tests of pages need the browser Chromium (Debian: `sudo apt-get install chromium`).",
    );
  provide("chromium", found);
}

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
  return findChromium();
}

declare module "vitest" {
  export interface ProvidedContext {
    /** The path of the program. */
    chromium: string;
  }
}
