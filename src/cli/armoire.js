#!/usr/bin/env -S node --max-semi-space-size=4 --heap-growing-percent=80
// (Fetched data soon becomes garbage. Without these limits V8 uses twice the memory before it collects.)
// The `armoire` command starts here, in plain JavaScript that any Node since 12 can parse: an unsuitable Node must be
// refused before anything else is loaded, because better-sqlite3 13 crashes on Node 20 without a message.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `armoire: needs Node.js 22.19 or later, and this is ${process.versions.node}. Install a newer Node.js, or use npx in a clone, which brings its own.\n`,
  );
  process.exit(1);
}

nodeModule.enableCompileCache?.();
const built = new URL("../../dist/cli.js", import.meta.url);
const sources = new URL("./main.ts", import.meta.url);
const { main } = await import((existsSync(built) ? built : sources).href);
await main(process.argv.slice(2));
