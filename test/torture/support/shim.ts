/** Compiles the library that counts, records and disturbs file operations, once for each version of its source. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = join(import.meta.dirname, "..", "shim.c");

/** @returns its path; null where it cannot be used, with the reason */
export function buildShim(): { readonly path: string } | { readonly path: null; readonly why: string } {
  if (process.platform !== "linux") return { path: null, why: "LD_PRELOAD needs Linux" };
  const folder = join(tmpdir(), "armoire-torture-cache");
  const digest = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const path = join(folder, `shim-${process.arch}-${digest}.so`);
  if (existsSync(path)) return { path };
  mkdirSync(folder, { recursive: true });
  // Processes that compile at the same time must not see each other's half-written file.
  const partial = `${path}.${process.pid}`;
  const { error, status, stderr } = spawnSync(
    "cc",
    ["-shared", "-fPIC", "-O1", "-o", partial, source, "-ldl", "-lpthread"],
    { encoding: "utf8" },
  );
  if (error !== undefined) return { path: null, why: "there is no C compiler (cc)" };
  if (status !== 0) return { path: null, why: `cc failed: ${stderr.trim().split("\n")[0]}` };
  renameSync(partial, path);
  return { path };
}
