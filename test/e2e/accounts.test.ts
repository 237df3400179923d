/** Account commands: output, exit codes, files, and the only place of a token. */
import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lockMirror } from "../../src/mirror/file/connection.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { armoireProgram } from "../support/armoire-program.ts";
import { writeSecretFile } from "../support/canary.ts";
import { jsonResponse, startRawServer } from "../support/raw-server.ts";
import {
  type CommandResult,
  callArmoire,
  type RunOptions,
  startArmoire,
  temporaryFolder,
} from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";

let sandbox: Sandbox;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, users: 3 });
  folder = await temporaryFolder();
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

let dataDir: string;
let directories = 0;
beforeEach(() => {
  dataDir = join(folder.path, `data-${++directories}`);
});

const tokenOf = (user: number): string => sandbox.users[user]?.token ?? "";

/** All output of the tests; searched for tokens at the end. */
const printed: string[] = [];

async function armoire(args: readonly string[], env: RunOptions["env"] = {}): Promise<CommandResult> {
  const settings = { ARMOIRE_DATA_DIR: dataDir, ARMOIRE_BASE_URL: sandbox.url };
  const result = await callArmoire(args, { env: { ...settings, ...env } });
  printed.push(result.stdout, result.stderr);
  return result;
}

const add = (name: string, user: number, ...args: readonly string[]): Promise<CommandResult> =>
  armoire(["account", "add", name, ...args], { ARMOIRE_TOKEN: tokenOf(user) });

async function list() {
  const { stdout, exitCode } = await armoire(["account", "list", "--json"]);
  expect(exitCode).toBe(0);
  return JSON.parse(stdout) as { name: string; username: string }[];
}

const filesBelow = (path: string) =>
  readdirSync(path, { recursive: true, withFileTypes: true }).map((file) => join(file.parentPath, file.name));

describe("adding", () => {
  it("account add prints the user, the permissions and the place of the token", async () => {
    const { stdout, stderr, exitCode } = await add("clara", 2);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toMatch(/^Added the account clara\.\nUser +clara_42 \(user 1002\) at http/);
    expect(stdout).toMatch(
      /\nMay read +profile; not granted: email, measurements; not known until a sync: bras\n/,
    );
    expect(stdout).toMatch(
      /\nToken +in a file that only you may read, .*token\n +\(not in a keychain: no desktop session/,
    );
    expect((await add("clara", 2)).stdout).toMatch(/^Replaced the token of the account clara\.\n/);
  });

  it("account add reads the token from standard input, a private file, or a file named by a variable", async () => {
    const file = join(folder.path, "béatrice.token");
    writeSecretFile(file, `${tokenOf(1)}\r\n`);
    expect(await fromStandardInput(`${tokenOf(0)}\n`)).toMatchObject({ exitCode: 0 });
    expect(await armoire(["account", "add", "bea", "--token-file", file])).toMatchObject({ exitCode: 0 });
    expect(await armoire(["account", "add", "bea"], { ARMOIRE_TOKEN_FILE: file })).toMatchObject({
      exitCode: 0,
    });
    expect((await list()).map(({ name, username }) => [name, username])).toEqual([
      ["ada", "anna"],
      ["bea", "béatrice"],
    ]);
  });

  it("account add prints one JSON object with --json, and with --quiet only that the token is in a file", async () => {
    const { stdout } = await add("ada", 0, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ name: "ada", userId: 1000, username: "anna", tokenIn: "file", isReplaced: false },
      ...{ scopes: ["profile", "email"], unknownScopes: ["bras", "measurements"] },
      whyNoKeychain: expect.any(String),
    });
    const quiet = await add("ada", 0, "--quiet");
    expect(quiet).toMatchObject({ stdout: "", exitCode: 0 });
    expect(quiet.stderr).toMatch(/^The token is in a file: .*\/ada\/token\n$/);
  });

  it("account add refuses the reserved name catalogue with exit code 2, without a request", async () => {
    sandbox.clearLog();
    expectRefusal(
      await add("catalogue", 0),
      2,
      /^armoire: The name catalogue is reserved .*\nChoose another name\.\n$/,
    );
    expect(sandbox.log()).toEqual([]);
    expect(existsSync(dataDir)).toBe(false);
  });

  it.skipIf(process.platform === "win32")(
    "account add keeps no account below a folder that others may write into, since they could put another one in its place (exit code 4)",
    async () => {
      const umask = process.umask(0);
      try {
        const shared = join(folder.path, `shared-${directories}`);
        mkdirSync(shared);
        dataDir = join(shared, "data");
        expectRefusal(
          await add("ada", 0),
          4,
          /^armoire: Other users may write to the folder .*shared-\d+ .*\nRun: chmod go-w '/,
        );
        expect(readdirSync(shared)).toEqual([]);
        chmodSync(shared, 0o700);
        expect(await add("ada", 0)).toMatchObject({ exitCode: 0 });
        chmodSync(shared, 0o777);
        for (const args of [
          ["sync", "--account", "ada"],
          ["account", "list"],
        ])
          expectRefusal(await armoire(args), 4, /shared-\d+/);
        // Like /tmp: the sticky bit keeps other users from renaming the folder.
        chmodSync(shared, 0o1777);
        expect(await armoire(["sync", "--account", "ada"])).toMatchObject({ exitCode: 0 });
      } finally {
        process.umask(umask);
      }
    },
  );

  it("account add stores nothing if the service rejects the token (exit code 4) or is unreachable (1)", async () => {
    const env = { ARMOIRE_TOKEN: "canary-refused-0123456789" };
    expectRefusal(
      await armoire(["account", "add", "ada"], env),
      4,
      /does not accept this token .*\n.*Get a new one/,
    );
    const unreachable = ["account", "add", "ada", "--base-url", "http://127.0.0.1:9/"];
    expectRefusal(
      await armoire(unreachable, env),
      1,
      /127\.0\.0\.1:9\/: the connection was refused.*\nNothing was stored\./,
    );
    expect(existsSync(dataDir)).toBe(false);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("account add stores nothing when %s interrupts it", async (signal, exitCode) => {
    const requested = Promise.withResolvers<void>();
    await using silent = await startRawServer(() => requested.resolve());
    const env = { ARMOIRE_DATA_DIR: dataDir, ARMOIRE_BASE_URL: silent.origin, ARMOIRE_TOKEN: tokenOf(0) };
    const running = startArmoire(["account", "add", "ada"], { env });
    await requested.promise;
    expect(existsSync(dataDir)).toBe(true);
    running.process.kill(signal);
    expectRefusal(await running.result, exitCode, /Interrupted; nothing was stored\./);
    expect(existsSync(dataDir)).toBe(false);
  });

  it("account add refuses a token as an argument without repeating it or sending a request", async () => {
    sandbox.clearLog();
    const token = tokenOf(0);
    const refused = [
      ["account", "add", "ada", token],
      ["account", "add", token],
      ["account", "add", `--token=${token}`, "ada"],
      ["account", "add", "--token", token, "ada"],
      ["account", "add", "ada", `-${token}`],
      ["account", token],
      ["account", "remove", token],
      [token],
    ];
    for (const args of refused) {
      expect({ args, exitCode: (await armoire(args)).exitCode }).toEqual({ args, exitCode: 2 });
    }
    expectRefusal(
      await armoire(["account", "add", "ada", "--token-file", token]),
      4,
      /The file of --token-file does not exist/,
    );
    expect(existsSync(dataDir)).toBe(false);
    expect(sandbox.log()).toEqual([]);
  });

  it("account add refuses a file that others could read, with a hint", async () => {
    const file = join(folder.path, "open.token");
    writeSecretFile(file, tokenOf(0));
    chmodSync(file, 0o644);
    const message = new RegExp(`Other users may read or write ${file}\\.\nRun: chmod 600 '${file}'\n`);
    expectRefusal(await armoire(["account", "add", "ada", "--token-file", file]), 4, message);
    expectRefusal(await armoire(["account", "add", "ada"], { ARMOIRE_TOKEN_FILE: file }), 4, message);
    expectRefusal(
      await armoire(["account", "add", "ada", "--token-file", folder.path]),
      4,
      /is not a regular file/,
    );
  });

  it.each([
    [
      "without a token",
      ["ada"],
      4,
      /The token is missing, and there is no terminal to ask for it\.\n.*--token-stdin/,
    ],
    ["with a name that is none", ["Ada"], 2, /not a valid account name\.\n.*a-z, 0-9/],
    ["with a name of a device", ["nul"], 2, /not a valid account name/],
    ["with two places to look", ["ada", "--token-stdin", "--token-file", "x"], 2, /cannot be used with/],
    ["without a base URL", ["ada", "--base-url", ""], 2, /--base-url has an empty value/],
  ])("account add is refused %s", async (_case, args, exitCode, message) => {
    expectRefusal(await armoire(["account", "add", ...args]), exitCode, message);
    expect(existsSync(dataDir)).toBe(false);
  });

  it("account add remembers the base URL", async () => {
    await add("ada", 0);
    const env = { ARMOIRE_BASE_URL: "", ARMOIRE_TOKEN: tokenOf(0) };
    expect(await armoire(["account", "add", "ada"], env)).toMatchObject({ exitCode: 0 });
    expectRefusal(
      await armoire(["account", "add", "eve"], env),
      4,
      /base URL is not set\.\n.*`armoire account add eve --base-url URL`/,
    );
  });

  it("account add allows one name per user and one user per name", async () => {
    await add("ada", 0);
    expectRefusal(await add("eve", 0), 4, /anna \(user 1000\), who already has the account ada/);
    expectRefusal(await add("ada", 1), 4, /this token belongs to béatrice/);
    expect((await list()).map(({ name }) => name)).toEqual(["ada"]);
  });

  it("account add refuses a data directory that others may write, and a symbolic link", async () => {
    mkdirSync(dataDir);
    chmodSync(dataDir, 0o777);
    expectRefusal(await add("ada", 0), 4, /Other users may write to the folder .*\n.*chmod go-w/);
    chmodSync(dataDir, 0o700);
    mkdirSync(join(folder.path, `elsewhere-${directories}`));
    symlinkSync(join(folder.path, `elsewhere-${directories}`), join(dataDir, "accounts"));
    expectRefusal(await add("ada", 0), 4, /symbolic link, which is not followed/);
    expect(readdirSync(join(folder.path, `elsewhere-${directories}`))).toEqual([]);
  });
});

describe("listing", () => {
  it("account list explains how to add the first account", async () => {
    expect(await armoire(["account", "list"])).toEqual({
      ...{
        stdout: "There are no accounts. Add one with `armoire account add NAME`.\n",
        stderr: "",
        exitCode: 0,
      },
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  it("account list works before the first sync", async () => {
    await add("ada", 0);
    const { stdout } = await armoire(["account", "list"]);
    expect(stdout.split("\n")[2]).toMatch(
      /^ada +anna +never +profile, email; not known until a sync: bras, measurements at http\S+; token in a file$/,
    );
  });

  it("account list shows the last sync and the counts, offline", async () => {
    await add("ada", 0);
    expect(await armoire(["sync", "--account", "ada"])).toMatchObject({ exitCode: 0 });
    await add("clara", 2);
    sandbox.clearLog();
    const { stdout } = await armoire(["account", "list", "--json"]);
    expect(sandbox.log()).toEqual([]);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        ...{ name: "ada", scopes: ["profile", "email", "bras", "measurements"], bras: 30 },
        ...{ measurements: expect.any(Number), lastSync: { state: "ended", stopped: null } },
      },
      { name: "clara", bras: null, measurements: null, lastSync: null },
    ]);
    expect((await armoire(["account", "list"])).stdout).toMatch(
      /^ada +anna +30 +\d+ +\d{4}-\S+ \S+ UTC +profile, .*; token in a file$/m,
    );
  });

  it("account list shows the permissions seen by the last sync, or by a newer token", async () => {
    await using changing = await startScopedService();
    const env = { ARMOIRE_BASE_URL: changing.origin, ARMOIRE_TOKEN: "canary-scopes-0001" };
    const seen = async () => {
      const { stdout } = await armoire(["account", "list", "--json"]);
      const [{ scopes, unknownScopes }] = JSON.parse(stdout);
      return { scopes, unknownScopes };
    };
    await armoire(["account", "add", "zoe"], env);
    expect(await seen()).toEqual({ scopes: ["profile"], unknownScopes: ["bras"] });
    changing.grant([]);
    expect(await armoire(["sync", "--account", "zoe"], env)).toMatchObject({ exitCode: 0 });
    expect(await seen()).toEqual({ scopes: ["profile"], unknownScopes: [] });
    changing.grant(["bras", "measurements"]);
    await armoire(["account", "add", "zoe"], env);
    expect(await seen()).toEqual({ scopes: ["profile"], unknownScopes: ["bras", "measurements"] });
  });

  it("account list reports an unreadable account and lists the others", async () => {
    await add("ada", 0);
    await add("bea", 1);
    writeFileSync(join(dataDir, "accounts/ada/account.json"), "{");
    const { stdout, stderr, exitCode } = await armoire(["account", "list"]);
    expect(stdout).toMatch(/\nbea /);
    expect(stderr).toMatch(/^armoire: The file is damaged: .*ada\/account\.json\n.*account add/);
    expect(exitCode).toBe(14);
    writeFileSync(join(dataDir, "accounts/bea/account.json"), "{");
    expect(await armoire(["account", "list"])).toMatchObject({ stdout: "", exitCode: 14 });
  });
});

describe("removing", () => {
  it("account remove needs --yes without a terminal", async () => {
    await add("ada", 0);
    const message =
      /The account ada was not removed: there is no terminal to confirm on\.\n`armoire account remove ada --yes`/;
    expectRefusal(await armoire(["account", "remove", "ada"]), 2, message);
    const purge = await armoire(["account", "remove", "ada", "--purge"]);
    expectRefusal(purge, 2, /`armoire account remove ada --purge --yes` needs no confirmation/);
    expect(await list()).toHaveLength(1);
  });

  it("account remove keeps the data and prints its place, and erases it with --purge", async () => {
    await add("ada", 0);
    const kept = await armoire(["account", "remove", "ada", "--yes"]);
    expect(kept.stdout).toMatch(
      /^Removed the account ada and its token\. The data stays in .*accounts\/ada;/,
    );
    expect(existsSync(join(dataDir, "accounts/ada/token"))).toBe(false);
    const afterRemoval = await armoire(["account", "list"]);
    expect(afterRemoval.stderr).toMatch(
      /^Data without an account: .*ada; `armoire account remove ada --purge` erases it\.\n$/,
    );
    const again = await armoire(["account", "remove", "ada", "--yes"]);
    expect(again.stdout).toMatch(
      /^The account ada was removed before; only its data was left\. The data stays in .*--purge` erases it\.\n$/,
    );
    const gone = await armoire(["account", "remove", "ada", "--yes", "--purge", "--json"]);
    expect(JSON.parse(gone.stdout)).toMatchObject({
      name: "ada",
      wasAccount: false,
      kept: [],
      remainingToken: null,
      hardLinked: [],
    });
    expect(existsSync(join(dataDir, "accounts/ada"))).toBe(false);
  });

  it("account remove is refused for an unknown account, and while a sync writes its mirror", async () => {
    await add("ada", 0);
    expectRefusal(
      await armoire(["account", "remove", "eda", "--yes"]),
      2,
      /no account called eda .*\nDid you mean ada\?/,
    );
    const lock = lockMirror(join(dataDir, "accounts/ada/mirror.sqlite"), "2026-01-15T12:00:00.000Z");
    expectRefusal(await armoire(["account", "remove", "ada", "--yes"]), 11, /in use by process \d+/);
    lock.release();
    expect(await list()).toHaveLength(1);
  });
});

describe("tokens", () => {
  it("a token is in its own file only: in no other file, no output and no argument", async () => {
    sandbox.setFaults([{ kind: "me", times: "always", fault: "status", status: 403 }]);
    await add("ada", 0, "--verbose");
    sandbox.setFaults([]);
    for (const user of [0, 1, 2]) await add(`user-${user}`, user, "--verbose");
    await armoire(["sync", "--account", "user-0", "--verbose"]);
    await armoire(["account", "list", "--json", "--verbose"]);
    await armoire(["doctor", "--json"], { ARMOIRE_TOKEN: tokenOf(0) });
    const encodings = [0, 1, 2]
      .map(tokenOf)
      .flatMap((token) => [
        token,
        encodeURIComponent(token),
        Buffer.from(token).toString("base64").replace(/=+$/, ""),
        Buffer.from(`bearer ${token}`).toString("base64url"),
        Buffer.from(token).toString("hex"),
      ]);
    const isLeaked = (bytes: Buffer | string) => encodings.some((encoding) => bytes.includes(encoding));
    expect(printed.length).toBeGreaterThan(60);
    expect(printed.filter(isLeaked)).toEqual([]);
    const files = filesBelow(dataDir).filter((path) => statSync(path).isFile());
    expect(files.filter((path) => isLeaked(readFileSync(path)))).toEqual(
      [0, 1, 2].map((user) => join(dataDir, `accounts/user-${user}/token`)),
    );
  });

  it("a token is found by doctor --scan in the given folders, and not printed", async () => {
    await add("ada", 0);
    await armoire(["sync", "--account", "ada"]);
    const args = ["doctor", "--offline", "--scan"];
    const succeed = await armoire(args);
    const searched = (stdout: string) =>
      /\n✓ No known secret was found in \d+ files in (.+); searched for: token of the account ada\n$/.exec(
        stdout,
      )?.[1];
    expect(searched(succeed.stdout)).toBe(dataDir);
    expect(succeed.exitCode).toBe(0);
    const elsewhere = join(folder.path, `logs-${directories}`);
    mkdirSync(elsewhere);
    expect(searched((await armoire([...args, elsewhere])).stdout)).toBe(`${dataDir}, ${elsewhere}`);
    writeSecretFile(join(elsewhere, "proxy.log"), `GET /me/?access_token=${tokenOf(0)}`);
    const file = join(dataDir, "notes.txt");
    writeSecretFile(file, Buffer.from(`bearer ${tokenOf(0)}`).toString("base64"));
    const { stdout, exitCode } = await armoire([...args, elsewhere]);
    expect(stdout).toContain(
      `✗ The token of the account ada is in ${file} (base64)\n  Replace the secret: revoke a token at the service`,
    );
    expect(stdout).toContain(
      `✗ The token of the account ada is in ${join(elsewhere, "proxy.log")} (as it is)\n`,
    );
    expect(stdout).not.toContain(tokenOf(0));
    expect(exitCode).toBe(1);
    const app = { ARMOIRE_APP_KEY: "canary-app-key", ARMOIRE_APP_SECRET: "canary-app-secret" };
    writeSecretFile(join(elsewhere, "debug.log"), app.ARMOIRE_APP_SECRET);
    expect(
      (await armoire(["doctor", "--offline", "--account", "ada", "--scan", elsewhere], app)).stdout,
    ).toContain(`✗ The application's key and secret is in ${join(elsewhere, "debug.log")} (as it is)\n`);
    const unlocked = join(dataDir, "accounts/ada/token");
    chmodSync(unlocked, 0o644);
    for (const more of [[], ["--account", "ada"]])
      expect((await armoire([...args, ...more])).stdout.match(/✗.*\n.*/g)).toEqual([
        expect.stringMatching(/✗ Other users may read or write .*token\.\n {2}Run: chmod 600/),
      ]);
  });

  it("a token is stored in private files under umask 000", async () => {
    const umask = process.umask(0);
    try {
      await add("ada", 0);
      await armoire(["sync", "--account", "ada"]);
    } finally {
      process.umask(umask);
    }
    const modes = [dataDir, ...filesBelow(dataDir)].map((path) => statSync(path).mode & 0o077);
    expect(modes.length).toBeGreaterThan(5);
    expect(new Set(modes)).toEqual(new Set([0]));
  });
});

/** A service with one user, whose token has the given scopes. */
async function startScopedService() {
  let granted: readonly string[] = ["bras"];
  const server = await startRawServer(({ path }, socket) => {
    const links = Object.fromEntries(
      ["bras", "measurements"].map((name) => [name, granted.includes(name) ? `/${name}/` : null]),
    );
    const body = { user_id: 7, username: "Zoë" };
    const responses: Readonly<Record<string, object>> = {
      "/": { rel: "resource", links: { me: "/me/" }, meta: {} },
      "/me/": { rel: "entity", links, meta: { collection: null }, body },
    };
    socket.end(jsonResponse(responses[path] ?? { rel: "collection", links: {}, meta: {}, collection: [] }));
  });
  return {
    origin: server.origin,
    grant(names: readonly string[]) {
      granted = names;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function fromStandardInput(input: string): Promise<CommandResult> {
  const child = spawn(process.execPath, [armoireProgram, "account", "add", "ada", "--token-stdin"], {
    env: { HOME: "/nonexistent", ARMOIRE_DATA_DIR: dataDir, ARMOIRE_BASE_URL: sandbox.url },
  });
  const exitCode = new Promise<number | null>((resolve) => child.on("close", resolve));
  child.stdin.end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  printed.push(stdout, stderr);
  return { stdout, stderr, exitCode: await exitCode };
}
