/** Before all tests: makes sure that `redis-server` exists, and installs it if possible. No test is skipped without it. */
import { spawnSync } from "node:child_process";

const isThere = (): boolean => spawnSync("redis-server", ["--version"]).status === 0;

export default function setup(): void {
  if (isThere()) return;
  const isDebianAsRoot = process.geteuid?.() === 0 && spawnSync("apt-get", ["--version"]).status === 0;
  if (isDebianAsRoot) {
    process.stderr.write("The tests need redis-server, which is not here: installing it with apt-get…\n");
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    // Without the system service: each test starts its own Redis.
    const policy = "/usr/sbin/policy-rc.d";
    const install = `apt-get -qq update && apt-get -qq install -y --no-install-recommends redis-server`;
    const wrapped = `test -e ${policy} || { printf '#!/bin/sh\\nexit 101\\n' > ${policy} && chmod +x ${policy} && trap 'rm -f ${policy}' EXIT; }; ${install}`;
    spawnSync("sh", ["-c", wrapped], { env: environment, stdio: ["ignore", "ignore", "inherit"] });
    if (isThere()) return;
  }
  throw new Error("The tests need the program redis-server (Debian: `sudo apt-get install redis-server`).");
}
