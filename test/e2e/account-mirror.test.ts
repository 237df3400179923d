/** Account mirrors at the command line: two users of one service, and its catalogue. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { type CommandResult, callArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let dataDir = "";

/** Runs a command on the data directory. */
const armoire = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> => callArmoire([...args, "--data-dir", dataDir], { env });

/** Runs a command that must succeed. */
async function succeed(...args: readonly string[]): Promise<string> {
  const result = await armoire(args);
  expect({ args, exitCode: result.exitCode, stderr: result.exitCode === 0 ? "" : result.stderr }).toEqual({
    ...{ args, exitCode: 0, stderr: "" },
  });
  return result.stdout;
}

const tokenOf = (n: number): string => sandbox.users[n]?.token ?? "";

async function add(name: string, n: number): Promise<void> {
  const env = { ARMOIRE_TOKEN: tokenOf(n) };
  const { exitCode, stderr } = await armoire(["account", "add", name, "--base-url", sandbox.url], env);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) });
}

beforeAll(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  sandbox = await startSandbox({ users: 2, brands: 4, models: 10, sizes: 30, allowance: 5000 });
  await add("ada", 0);
  await add("bea", 1);
  await succeed("sync", "--base-url", sandbox.url, "--depth", "models", "--quiet");
});
afterAll(async () => {
  await sandbox.close();
  await folder[Symbol.asyncDispose]();
});

describe("sync", () => {
  it("sync --account mirrors an account and reports the new resources", async () => {
    expect(await succeed("sync", "--account", "ada")).toMatch(
      /^Run 1: \d+ new.*\nEverything is up to date: .*accounts.ada.mirror\.sqlite\n$|^Run 1/s,
    );
    const report = JSON.parse(await succeed("sync", "--account", "bea", "--json"));
    expect(report).toMatchObject({ complete: true, notGranted: ["email"], requests: { failed: 0 } });
    const again = JSON.parse(await succeed("sync", "--account", "ada", "--json"));
    expect(again).toMatchObject({ complete: true, notGranted: [], requests: { counted: 0 } });
  });

  it.each([
    [["--mirror", "x.sqlite"], "--account and --mirror cannot be given together"],
    [["--base-url", "https://api.example.org/"], "--account and --base-url cannot be given together"],
    [["--depth", "models"], "--depth cannot be given with --account"],
    [["--brand", "x"], "--brand cannot be given with --account"],
  ])("sync refuses %j in one line", async (args, message) => {
    const { exitCode, stderr } = await armoire(["sync", "--account", "ada", ...args]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  it("sync --account suggests a similar name for an unknown account", async () => {
    const { exitCode, stderr } = await armoire(["sync", "--account", "adda"]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("Did you mean ada?");
  });

  it("a rejected token gives exit code 4 with a hint, and the data stays", async () => {
    sandbox.editUser("anna", { isRevoked: true });
    const { exitCode, stderr, stdout } = await armoire(["sync", "--account", "ada"]);
    sandbox.editUser("anna", { isRevoked: false });
    expect({ exitCode, stdout }).toEqual({ exitCode: 4, stdout: "" });
    expect(stderr).toContain("The mirrored data stays. `armoire account add ada` replaces the token");
    expect(
      await succeed("query", "select count(*) as n from bra", "--account", "ada", "--format", "csv"),
    ).toMatch(/30/);
  });
});

describe("reading commands", () => {
  it("status and plan describe the account", async () => {
    const status = await succeed("status", "--account", "ada");
    expect(status).toMatch(/^User {7}anna \(user 1000\)$/m);
    expect(status).toMatch(/^Holds {6}30 bras, \d+ measurements$/m);
    expect(status).toMatch(/^Checked {4}\d+ s ago \([\d-]+ [\d:]+ UTC\)$/m);
    expect(status).toMatch(/^Backup {5}none known; `armoire backup --account ada --to FOLDER` makes one$/m);
    // The kinds of pages are for --json.
    expect(status).not.toMatch(/Forecast|catalogue|root|kind/);
    expect(await succeed("status", "--account", "bea")).toMatch(/^Not granted to the token: email$/m);
    const plan = await succeed("plan", "--account", "ada");
    expect(plan).toContain("checked by each run");
    expect(plan).not.toContain("The size of the catalogue");
  });

  it("show bras and show measurements list all of an account, names first", async () => {
    const [head = "", , ...bras] = (await succeed("show", "bras", "--account", "ada")).trimEnd().split("\n");
    expect(head.split(/ +/)).toEqual(["name", "brand", "size", "owned", "note", "key"]);
    expect(bras).toHaveLength(30);
    const listed = await succeed("show", "bras", "--account", "ada", "--json");
    expect(JSON.parse(listed)).toEqual(
      JSON.parse(await succeed("query", "@bras", "--account", "ada", "--json")),
    );
    expect(await succeed("show", "measurements", "--account", "ada", "--format", "csv")).toMatch(
      /^day,loose_underbust,/,
    );
    for (const [args, exitCode] of [
      [["bras", "Rosa", "--account", "ada"], 2],
      [["bras", "--body", "--account", "ada"], 2],
      [["bras", "--base-url", sandbox.url], 2],
    ] as const)
      expect(await armoire(["show", ...args])).toMatchObject({ stdout: "", exitCode });
  });

  it("changes of an account are written to a private file, also if an equal one is not private", async () => {
    const file = join(folder.path, "ada.md");
    const write = () => succeed("changes", "--account", "ada", "--out", file);
    for (const [mode, printed] of [
      [null, "Written to"],
      [0o644, "Written to"],
      [0o600, "Unchanged: "],
    ] as const) {
      if (mode !== null) chmodSync(file, mode);
      expect(await write()).toContain(printed);
      expect(statSync(file).mode & 0o777).toBe(0o600);
    }
  });

  it("show finds the user, and bras by URL, id and name", async () => {
    expect(await succeed("show", "me", "--account", "ada")).toMatch(/^username +anna$/m);
    const [bra] = JSON.parse(
      await succeed("query", "select href, name from bra order by href", "--account", "ada", "--json"),
    ) as { href: string; name: string }[];
    const id = bra?.href.match(/(\d+)\/$/)?.[1] ?? "";
    for (const key of [bra?.href ?? "", id]) {
      expect(JSON.parse(await succeed("show", "bra", key, "--account", "ada", "--json"))).toMatchObject({
        fields: { href: bra?.href, name: bra?.name },
      });
    }
    expect(await succeed("history", "bra", id, "--account", "ada")).toContain("1");
  });

  it("invalid combinations are refused in one line", async () => {
    const mirror = join(dataDir, "accounts/ada/mirror.sqlite");
    for (const [args, message] of [
      [["query", "@top-brands", "--account", "ada"], "@top-brands works only on a catalogue"],
      [["show", "brand", "x", "--account", "ada"], "The mirror of an account holds no brand"],
      [["show", "me", "--base-url", sandbox.url], "The mirror of a catalogue holds no user"],
      [["show", "me", "x", "--account", "ada"], "me takes no key"],
      [["show", "bra", "--account", "ada"], "The key of the bra is missing"],
      [["diff", "--since", "-7d", "--account", "ada"], "reports no times for user, bra, measurement"],
      [["sync", "--mirror", mirror, "--base-url", sandbox.url], "`armoire sync --account NAME`"],
      [["sync", "--mirror", mirror], "`armoire sync --account NAME`"],
    ] as const) {
      const { exitCode, stderr } = await armoire(args);
      expect(exitCode).not.toBe(0);
      expect(stderr).toContain(message);
    }
  });

  it("diff compares with a restored backup, and refuses an unrestored one", async () => {
    const [zip, files, restored] = ["ada.zip", "ada-files", "restored.sqlite"].map((name) =>
      join(folder.path, name),
    );
    await succeed("backup", "create", "--account", "ada", "--to", zip ?? "");
    await succeed("backup", "restore", zip ?? "", "--to", files ?? "");
    await succeed("backup", "restore", zip ?? "", "--mirror", restored ?? "");
    for (const [from, restoring] of [
      [zip, `armoire backup restore ${zip} --mirror restored.sqlite`],
      [files, "armoire backup restore FILE --mirror restored.sqlite"],
    ] as const) {
      const { exitCode, stderr } = await armoire(["diff", "--from", from ?? "", "--account", "ada"]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining(restoring) });
    }
    expect(await succeed("diff", "--from", restored ?? "", "--account", "ada")).toContain("No differences.");
  });

  it("only suitable questions and columns are offered for an account", async () => {
    const listed = await succeed("query", "--list", "--account", "ada");
    expect(listed.match(/^@[a-z-]+/gm)).toEqual(["@newest", "@changed", "@bras", "@measurements"]);
    const names = JSON.parse(await succeed("query", "--list", "--account", "ada", "--json")) as {
      name: string;
    }[];
    for (const { name } of names) await succeed("query", `@${name}`, "--account", "ada");
    const found = await succeed("search", "a", "--account", "ada", "--format", "csv");
    expect(found.split("\n")[0]).toBe("kind,name,brand,state,key,href");
  });

  it("SQL sees the catalogue of the same service only", async () => {
    const sql = "select b.name, m.full_name from bra b join catalogue.model m on m.href = b.model_href";
    expect(JSON.parse(await succeed("query", sql, "--account", "ada", "--json"))).toHaveLength(30);
    for (const statement of [
      `attach '${join(dataDir, "accounts/bea/mirror.sqlite")}' as other`,
      "delete from catalogue._brand returning *",
    ]) {
      const { exitCode } = await armoire(["query", statement, "--account", "ada"]);
      expect(exitCode).toBe(2);
    }
  });
});

describe("page", () => {
  it("an account's page is one private file, replaced by the next one", async () => {
    const out = join(folder.path, "ada.html");
    const printed = JSON.parse(await succeed("page", "--account", "ada", "--out", out, "--json"));
    const text = readFileSync(out, "utf8");
    expect(printed).toMatchObject({ file: out, bytes: Buffer.byteLength(text), bras: 30, pictures: 0 });
    expect(text.match(/<article id="bra-\d+">/g)).toHaveLength(30);
    expect(text).not.toMatch(/<script|\bsrc="(?!data:)/);
    expect(statSync(out).mode & 0o777).toBe(0o600);
    expect(await succeed("page", "--account", "ada", "--out", out, "--no-pictures")).toContain("30 bras");
  });

  it.each([
    [["--out", "page.html"], 2, /A page shows an account/],
    [["--account", "ada"], 2, /--out/],
    [["--account", "ada", "--out", "accounts/ada/token"], 2, /the place of one of Armoire's own files/],
  ] as const)("a page is not written with %j", async (args, exitCode, message) => {
    const inDataDir = args.map((text) => (text.startsWith("accounts/") ? join(dataDir, text) : text));
    const result = await armoire(["page", ...inDataDir]);
    expect(result).toMatchObject({ exitCode, stderr: expect.stringMatching(message) });
    expect(existsSync("page.html")).toBe(false);
  });
});

it("mirror, ledger and export are private under any umask", async () => {
  const out = join(folder.path, "export");
  const before = process.umask(0);
  try {
    await add("ada", 0);
    await succeed("sync", "--account", "ada", "--quiet");
    await succeed("export", "--account", "ada", "--out", out, "--quiet");
  } finally {
    process.umask(before);
  }
  for (const root of [join(dataDir, "accounts"), out]) {
    for (const path of ["", ...(readdirSync(root, { recursive: true }) as string[])]) {
      const { mode } = statSync(join(root, path));
      expect({ path, others: mode & 0o077 }).toEqual({ path, others: 0 });
    }
  }
  expect(readdirSync(out)).toEqual(expect.arrayContaining(["measurement.csv", "measurement_value.csv"]));
});
