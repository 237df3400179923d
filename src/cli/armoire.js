#!/usr/bin/env -S node --max-semi-space-size=4
// (Fetched data soon becomes garbage, and with this limit V8 collects it sooner.)
// The `armoire` command starts here, in plain JavaScript that any Node since 12 can parse: an unsuitable Node must be
// refused before anything else is loaded, because better-sqlite3 13 crashes on Node 20 without a message.
const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  process.stderr.write(
    `armoire: needs Node.js 22.19 or later, and this is ${process.versions.node}. Install a newer Node.js, or use npx in a clone, which brings its own.\n`,
  );
  process.exit(1);
}

// Not imported: Node would compute all exports of a module, which takes longer.
const { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeSync } =
  process.getBuiltinModule("node:fs");
const { dirname, isAbsolute, join } = process.getBuiltinModule("node:path");

/** Commands that handle little data. The others collect garbage sooner: otherwise V8 lets the heap grow to twice the size. */
const brief = [
  "show",
  "search",
  "query",
  "status",
  "plan",
  "runs",
  "tables",
  "history",
  "completion",
  "complete",
];

/** Those in `dist/quick.cjs`. */
const quick = [...brief.filter((name) => name !== "completion" && name !== "complete"), "export"];

/** Those that handle much data, or run for long. */
const long = ["sync", "worker", "schedule", "serve", "snapshot", "backup", "mirror"];

/** Settings of glibc's allocator, which it reads as a process starts: without them, each thread keeps memory that it has freed. */
const allocator = { MALLOC_ARENA_MAX: "2", MALLOC_TRIM_THRESHOLD_: "131072" };

/** What Node puts in the place of bytes that are not UTF-8. */
const undecoded = "\ufffd";

const args = process.argv.slice(2);
if (long.includes(args[0])) restartWithAllocator();
if (args.length !== 1 || args[0] !== "--version" || !printVersion()) await run();

/**
 * Replaces this process, once: `process.execve` keeps its ID, folder and standard streams, and closes other open files. Where
 * that is not possible, or such a file is named, the process goes on.
 */
function restartWithAllocator() {
  const { env, execPath, execArgv, argv, channel, permission, platform } = process;
  const isSet = Object.keys(allocator).some((name) => name in env);
  const canRestart = typeof process.execve === "function" && !channel && !permission;
  if (platform !== "linux" || isSet || !canRestart) return;
  // Bytes that Node could not decode would be passed on as other ones, and no longer be refused.
  if ([...args, ...Object.values(env)].some((text) => text.includes(undecoded) || /\/fd\/\d/.test(text)))
    return;
  process.execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, ...allocator });
}

/** Without loading the program. @returns false if it cannot be printed: the program then says why */
function printVersion() {
  try {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    writeSync(1, `${version}\n`);
    return true;
  } catch {
    return false;
  }
}

async function run() {
  const { createRequire, enableCompileCache } = process.getBuiltinModule("node:module");
  const folder = "NODE_COMPILE_CACHE" in process.env ? undefined : compileCacheFolder();
  if (folder !== null) enableCompileCache(folder);
  const dist = join(import.meta.dirname, "../../dist");
  const script = join(dist, "quick.cjs");
  const { main } =
    quick.includes(args[0]) && existsSync(script)
      ? createRequire(import.meta.url)(join(dist, "script-cache.cjs")).loadScript(script, args[0])
      : await loadProgram(join(dist, "cli.js"));
  if (!brief.includes(args[0])) {
    const { setFlagsFromString } = process.getBuiltinModule("node:v8");
    // As an option of Node it would slow every start: Node's stored code of its own modules is for V8's default settings.
    setFlagsFromString("--heap-growing-percent=80");
    // So is what is stored of a script when the process ends.
    process.prependListener("exit", () => setFlagsFromString("--heap-growing-percent=0"));
  }
  await main(args);
}

/**
 * Compiled code is run as it is, so no other user may write there. Node's default is in the folder of temporary files, which
 * users share except on Windows.
 * @returns undefined for Node's default; null for no folder
 */
function compileCacheFolder() {
  const { env, getuid } = process;
  if (getuid === undefined) return undefined;
  try {
    const { XDG_CACHE_HOME: given = "" } = env;
    const caches = isAbsolute(given) ? given : join(process.getBuiltinModule("node:os").homedir(), ".cache");
    const folder = join(caches, "armoire");
    if (folder.includes(undecoded)) return null;
    // Nothing is made in another user's home, which `sudo` may have left in the environment.
    let above = caches;
    while (!existsSync(above)) above = dirname(above);
    if (canBeReplaced(realpathSync.native(above))) return null;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    // From here on, links to it do not matter, but links in it do.
    const place = realpathSync.native(folder);
    const { uid, mode } = statSync(place);
    // The folder that Node makes in it has the mode of the umask, so others must not even reach it.
    const isPrivate = uid === getuid() && (mode & 0o077) === 0;
    const isOwn = (name) => {
      const entry = lstatSync(join(place, name));
      return entry.uid === getuid() && !entry.isSymbolicLink();
    };
    return isPrivate && !canBeReplaced(dirname(place)) && readdirSync(place).every(isOwn) ? place : null;
  } catch {
    // No home folder, or one that cannot be written: a start takes longer.
    return null;
  }
}

/** Whether another user could replace what is in a folder. `src/platform/private-files.ts` has the same rule. */
function canBeReplaced(folder) {
  const { uid, mode } = statSync(folder);
  const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
  if (isOpen || (uid !== 0 && uid !== process.getuid())) return true;
  return dirname(folder) !== folder && canBeReplaced(dirname(folder));
}

/** In a clone without a build, the sources. */
async function loadProgram(built) {
  const { pathToFileURL } = process.getBuiltinModule("node:url");
  return await import(
    (existsSync(built) ? pathToFileURL(built) : new URL("./main.ts", import.meta.url)).href
  );
}
