/** Prometheus' own checker of rules. Where it is not installed, Debian's package is unpacked, without its service. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = join(tmpdir(), `armoire-promtool-${process.getuid?.() ?? 0}`);
const unpacked = join(folder, "usr/bin/promtool");

/** @returns its path @throws Error if it is neither here nor can be fetched: no test is skipped without it */
export function requirePromtool(): string {
  for (const program of ["promtool", unpacked])
    if (spawnSync(program, ["--version"]).status === 0) return program;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] }).status === 0;
  // Without lists of packages, they are fetched first, which needs root.
  const isHere =
    run("apt-get", "-qq", "download", "prometheus") ||
    (run("apt-get", "-qq", "update") && run("apt-get", "-qq", "download", "prometheus"));
  const archive = isHere ? readdirSync(folder).find((name) => name.endsWith(".deb")) : undefined;
  if (archive !== undefined && run("dpkg-deb", "-x", archive, folder) && existsSync(unpacked))
    return unpacked;
  throw new Error("This test needs the program promtool (Debian: `sudo apt-get install prometheus`).");
}
