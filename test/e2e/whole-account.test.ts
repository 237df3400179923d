/** An account with linked catalogue resources and pictures, at the command line. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { lockMirror } from "../../src/mirror/file/connection.ts";
import { catalogueMirrorFile } from "../../src/mirror/file/paths.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { sync } from "../../src/sync/sync.ts";
import { type PictureServer, pictureResponse, startPictureServer } from "../support/picture-server.ts";
import { type CommandResult, callArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let sandbox: Sandbox;
let pictures: PictureServer;
let dataDir = "";
let n = 0;

const armoire = (
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> => callArmoire([...args, "--data-dir", dataDir], { env });

async function syncAda(...args: readonly string[]) {
  const { stdout, stderr, exitCode } = await armoire(["sync", "--account", "ada", "--json", ...args]);
  return { report: stdout === "" ? null : JSON.parse(stdout), stderr, exitCode };
}

beforeAll(async () => {
  folder = await temporaryFolder();
  sandbox = await startSandbox({ users: 2, brands: 5, models: 20, sizes: 60, allowance: 5_000 });
  pictures = await startPictureServer();
  pictures.put("/ada.png", pictureResponse("ada"));
});
beforeEach(async () => {
  dataDir = join(folder.path, `data-${++n}`);
  mkdirSync(dataDir, { mode: 0o700 });
  const avatar = { medium: `${pictures.origin}/ada.png` };
  sandbox.setFaults([{ kind: "me", fault: "set", pointer: "/body/avatar", value: avatar, times: "always" }]);
  const env = { ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" };
  expect(await armoire(["account", "add", "ada", "--base-url", sandbox.url], env)).toMatchObject({
    exitCode: 0,
  });
  sandbox.clearLog();
});
afterAll(async () => {
  await sandbox.close();
  await pictures[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

it("an account's page has its pictures, unless they are to be left out", async () => {
  await syncAda("--media");
  const page = async (...args: readonly string[]) => {
    const out = join(dataDir, "..", `page-${n}.html`);
    const { stdout } = await armoire(["page", "--account", "ada", "--out", out, "--json", ...args]);
    const images = readFileSync(out, "utf8").match(/<img src="data:image\/png;base64,/g) ?? [];
    return { pictures: JSON.parse(stdout).pictures, images: images.length };
  };
  expect(await page()).toEqual({ pictures: 1, images: 1 });
  expect(await page("--no-pictures")).toEqual({ pictures: 0, images: 0 });
});

describe("--with-catalogue", () => {
  it("sync --account NAME --with-catalogue reports both parts together, and SQL joins bras with the catalogue", async () => {
    const { report, stderr, exitCode } = await syncAda("--with-catalogue");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    const file = catalogueMirrorFile(dataDir, sandbox.url);
    expect(report).toMatchObject({ complete: true, catalogue: { complete: true, mirror: file } });
    const query = `select count(*) as whole from bra b join catalogue.brand r on r.href = b.brand_href
      join catalogue.model m on m.href = b.model_href join catalogue.size s on s.href = b.size_href`;
    const { stdout } = await armoire(["query", query, "--account", "ada", "--json"]);
    expect(JSON.parse(stdout)).toEqual([{ whole: 30 }]);
    const { stdout: text } = await armoire(["sync", "--account", "ada", "--with-catalogue"]);
    expect(text).toMatch(/^Run 2: 0 new.*\nLinked resources in the catalogue's mirror:\nRun 2: 0 new/s);
  });

  it("sync --account NAME --with-catalogue requests the catalogue without the token, and account data with the token only", async () => {
    const env = { ARMOIRE_APP_KEY: sandbox.app.key, ARMOIRE_APP_SECRET: sandbox.app.secret };
    expect(await armoire(["sync", "--account", "ada", "--with-catalogue"], env)).toMatchObject({
      exitCode: 0,
    });
    const credentials = (isHers: boolean) => [
      ...new Set(
        sandbox
          .log()
          .filter(({ url }) => url !== sandbox.url && url.includes("/me/") === isHers)
          .map(({ credential }) => credential),
      ),
    ];
    expect(credentials(false)).toEqual(["app:sandbox-app"]);
    expect(credentials(true)).toEqual([expect.stringMatching(/anna/)]);
  });

  it("sync --account NAME --with-catalogue spends one budget on both", async () => {
    const { report } = await syncAda("--with-catalogue", "--budget", "50");
    const counted = report.requests.counted + report.catalogue.requests.counted;
    expect(counted).toBe(50);
    expect(report.catalogue).toMatchObject({ stopped: "budget", complete: false });
    expect(sandbox.log().filter((entry) => entry.counted).length).toBeLessThanOrEqual(50);
    expect(await syncAda("--with-catalogue", "--budget", "0", "--require-complete")).toMatchObject({
      exitCode: 8,
    });
  });

  it("sync --account NAME --with-catalogue stores the account's data if the catalogue is locked, with an exit code", async () => {
    const file = catalogueMirrorFile(dataDir, sandbox.url);
    mkdirSync(join(file, ".."), { recursive: true });
    const lock = lockMirror(file, "2026-01-01T00:00:00Z");
    try {
      const { report, stderr, exitCode } = await syncAda("--with-catalogue", "--media");
      expect({ exitCode, stderr }).toEqual({
        exitCode: 11,
        stderr: expect.stringMatching(/catalogue\.sqlite/),
      });
      expect(report).toMatchObject({ complete: true, catalogue: null, media: { pictures: { new: 1 } } });
    } finally {
      lock.release();
    }
  });
});

describe("--media", () => {
  it("sync --account NAME --media names other hosts, downloads pictures, and lists them in SQL", async () => {
    const { report, stderr, exitCode } = await syncAda("--media");
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`without a credential:\n  ${pictures.origin}  1\n`);
    expect(report.media).toMatchObject({ pictures: { new: 1, failed: 0 }, origins: [{ pictures: 1 }] });
    const { stdout } = await armoire([
      "query",
      "select field, url, type, file from media",
      "--account",
      "ada",
      "--json",
    ]);
    const [row] = JSON.parse(stdout);
    expect(row).toMatchObject({
      field: "/body/avatar/medium",
      url: `${pictures.origin}/ada.png`,
      type: "image/png",
    });
    expect(existsSync(join(dataDir, "accounts/ada", row.file))).toBe(true);
    const { field, url, file } = row;
    const shown = await armoire(["show", "me", "--account", "ada", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({ pictures: [{ field, url, file }] });
    expect((await armoire(["show", "me", "--account", "ada"])).stdout).toContain(file);
    expect(await syncAda("--media", "--quiet")).toMatchObject({ stderr: "", exitCode: 0 });
  });

  it("sync --account NAME --media exits with 3 if a picture failed", async () => {
    const avatar = { medium: `${pictures.origin}/ada.png`, small: "http://10.0.0.1:9/secret.png" };
    sandbox.setFaults([
      { kind: "me", fault: "set", pointer: "/body/avatar", value: avatar, times: "always" },
    ]);
    const { stdout, exitCode } = await armoire(["sync", "--account", "ada", "--media"]);
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(
      /^Pictures: 1 new, .*\n1 failed, 0 are gone; .*--account ada` shows the reasons\.$/m,
    );
    const status = await armoire(["status", "--account", "ada"]);
    expect(status.stdout).toMatch(/^Holds .*, 1 picture \(1 to fetch\)$/m);
    expect(status.stdout).toMatch(/^Not complete: 1 of 2 pictures held;/m);
  });

  it("mirror check verifies pictures and names missing ones", async () => {
    await syncAda("--media");
    expect((await armoire(["mirror", "check", "--account", "ada"])).stdout).toMatch(/, 1 picture/);
    const media = join(dataDir, "accounts/ada/media");
    const [file = ""] = readdirSync(media);
    rmSync(join(media, file));
    const { stdout, exitCode } = await armoire(["mirror", "check", "--account", "ada"]);
    expect(exitCode).toBe(14);
    expect(stdout).toContain(`media: ${join(media, file)}: the picture is missing`);
    expect(stdout).toContain("`armoire sync --account ada --media` downloads");
  });

  it("account remove --purge erases pictures", async () => {
    await syncAda("--media");
    expect(await armoire(["account", "remove", "ada", "--purge", "--yes"])).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(dataDir, "accounts/ada"))).toBe(false);
  });
});

it("the linked catalogue is part of the backup, and is restored from it", async () => {
  const to = join(dataDir, "backups");
  mkdirSync(to);
  const flags = ["--with-catalogue", "--media", "--json"];
  const { stdout, exitCode } = await armoire(["backup", "--account", "ada", "--to", to, ...flags]);
  expect(exitCode).toBe(0);
  const { sync, backup } = JSON.parse(stdout);
  expect(sync).toMatchObject({ catalogue: { complete: true }, media: { pictures: { new: 1 } } });
  const { coverage } = backup.manifest.catalogue;
  expect(
    coverage.map(({ kind, due, failed }: { kind: string; due: number; failed: number }) => [
      kind,
      due + failed,
    ]),
  ).toEqual([
    ["brand", 0],
    ["model", 0],
    ["size", 0],
  ]);
  const unpacked = join(dataDir, "unpacked");
  expect(await armoire(["backup", "restore", backup.file, "--to", unpacked])).toMatchObject({ exitCode: 0 });
  const media = join(dataDir, "accounts/ada/media");
  expect(readdirSync(join(unpacked, "media"))).toEqual(readdirSync(media));
  const rows = (table: string): Record<string, string>[] =>
    JSON.parse(readFileSync(join(unpacked, `${table}.json`), "utf8"));
  const models = rows("catalogue/model").map(({ href }) => href);
  for (const { model_href } of rows("tables/bra")) expect(models).toContain(model_href);
  expect(rows("tables/media")).toMatchObject([{ field: "/body/avatar/medium", type: "image/png" }]);
  rmSync(join(dataDir, "accounts/ada"), { recursive: true });
  const env = { ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" };
  await armoire(["account", "add", "ada", "--base-url", sandbox.url], env);
  expect(await armoire(["backup", "restore", backup.file, "--account", "ada"])).toMatchObject({
    exitCode: 0,
  });
  expect(readdirSync(media)).toHaveLength(1);
  expect((await armoire(["mirror", "check", "--account", "ada"])).stdout).toMatch(
    /^Sound: .*, 1 picture in /,
  );
});

it("a backup on a new machine has the linked catalogue again, without the option, because the restored mirror had it", async () => {
  const to = join(dataDir, "backups");
  mkdirSync(to);
  const backUp = async (...flags: readonly string[]) => {
    const { stdout } = await armoire(["backup", "--account", "ada", "--to", to, "--json", ...flags]);
    return JSON.parse(stdout).backup;
  };
  const first = await backUp("--with-catalogue");
  for (const folder of ["accounts/ada", dirname(catalogueMirrorFile(dataDir, sandbox.url))])
    rmSync(resolve(dataDir, folder), { recursive: true });
  const env = { ARMOIRE_TOKEN: sandbox.users[0]?.token ?? "" };
  await armoire(["account", "add", "ada", "--base-url", sandbox.url], env);
  await armoire(["backup", "restore", first.file, "--account", "ada"]);
  const second = await backUp();
  expect(second.manifest.catalogue).toEqual(first.manifest.catalogue);
  expect((await armoire(["backup", "list", to])).stdout).not.toContain("removed");
});

it("restore --replace replaces the mirror of the same user, after a backup that came too early, and no other one", async () => {
  const to = join(dataDir, "ada.zip");
  await syncAda();
  await armoire(["backup", "create", "--account", "ada", "--to", to]);
  const restore = (...flags: readonly string[]) =>
    armoire(["backup", "restore", to, "--account", "ada", ...flags]);
  await syncAda();
  expect(await restore()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--replace") });
  const runs = async () => JSON.parse((await armoire(["runs", "--account", "ada", "--json"])).stdout).length;
  expect(await runs()).toBe(2);
  expect(await restore("--replace")).toMatchObject({ exitCode: 0, stderr: "" });
  expect(await runs()).toBe(1);
  expect((await armoire(["mirror", "check", "--account", "ada"])).exitCode).toBe(0);
  const mirror = join(dataDir, "accounts/ada/mirror.sqlite");
  rmSync(mirror);
  await sync({ file: mirror, baseUrl: sandbox.url });
  expect(await restore("--replace")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("is of another user, so it is not replaced"),
  });
});

it("an unreadable catalogue is left out of the backup with an exit code, and nothing is pruned", async () => {
  await syncAda("--with-catalogue");
  const file = catalogueMirrorFile(dataDir, sandbox.url);
  for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
  writeFileSync(file, "something else".repeat(100));
  const to = join(dataDir, "backups");
  mkdirSync(to);
  for (const args of [
    ["backup", "create"],
    ["backup", "--with-catalogue", "--keep-last", "1"],
  ]) {
    const { stdout, stderr, exitCode } = await armoire([...args, "--account", "ada", "--to", to, "--json"]);
    expect({ args, exitCode, stderr }).toEqual({
      ...{ args, exitCode: 1 },
      stderr: expect.stringMatching(/^armoire: This is not a SQLite file: \S+catalogue\.sqlite\n[^\n]+\n$/),
    });
    const { backup, ...created } = JSON.parse(stdout);
    expect((backup ?? created).manifest.catalogue).toMatchObject({ tables: [] });
  }
  expect(readdirSync(to)).toHaveLength(2);
});

it("linked resources are only in backups of accounts that requested them", async () => {
  const env = { ARMOIRE_TOKEN: sandbox.users[1]?.token ?? "" };
  await armoire(["account", "add", "eve", "--base-url", sandbox.url], env);
  await syncAda("--with-catalogue");
  await armoire(["sync", "--account", "eve"]);
  const backUp = async (name: string) => {
    const to = join(dataDir, `${name}.zip`);
    const { stdout } = await armoire(["backup", "create", "--account", name, "--to", to, "--json"]);
    return JSON.parse(stdout).manifest.catalogue;
  };
  const [adas, eves] = [await backUp("ada"), await backUp("eve")];
  expect(adas).toMatchObject({ isRequested: true, coverage: expect.any(Array) });
  expect(adas.tables.length).toBeGreaterThan(0);
  expect(eves).toMatchObject({ isRequested: false, tables: [] });
  expect(eves.coverage.map(({ held }: { held: number }) => held)).toEqual([0, 0, 0]);
  const { stdout } = await armoire(["backup", "verify", join(dataDir, "eve.zip")]);
  expect(stdout).not.toContain("Not complete");
});

it.each(["requested", "not requested", "unreadable"])(
  "account remove --purge reports the linked resources that stay, if they were %s",
  async (state) => {
    await syncAda("--with-catalogue");
    const catalogue = catalogueMirrorFile(dataDir, sandbox.url);
    if (state === "not requested") {
      const env = { ARMOIRE_TOKEN: sandbox.users[1]?.token ?? "" };
      await armoire(["account", "add", "eve", "--base-url", sandbox.url], env);
      await armoire(["sync", "--account", "eve"]);
    }
    if (state === "unreadable") writeFileSync(join(dataDir, "accounts/ada/mirror.sqlite"), "damaged");
    const name = state === "not requested" ? "eve" : "ada";
    const { stdout, exitCode } = await armoire(["account", "remove", name, "--purge", "--yes"]);
    expect(exitCode).toBe(0);
    const messages = {
      requested:
        /^Removed .* Its data is erased\.\n\d\d linked catalogue resources stay \(--with-catalogue\) in/,
      "not requested": /^Removed the account eve and its token\. No data of it is left here\.\n$/,
      unreadable:
        /^Removed .* Its data is erased\.\nCatalogue resources that --with-catalogue fetched for it/,
    };
    expect(stdout).toMatch(messages[state as keyof typeof messages]);
    if (name === "ada") expect(stdout).toContain(` ${catalogue}\n`);
    expect(existsSync(catalogue)).toBe(true);
  },
);

it("plan --with-catalogue works offline before and after the sync", async () => {
  const plan = (...more: readonly string[]) =>
    armoire(["plan", "--account", "ada", "--with-catalogue", ...more]);
  expect((await plan()).stdout).toMatch(/mirror: known after the first sync\.\n$/);
  await syncAda();
  const sent = sandbox.log().length;
  const { catalogue } = JSON.parse((await plan("--json")).stdout);
  expect(catalogue.mirror).toBe(catalogueMirrorFile(dataDir, sandbox.url));
  const fetches = catalogue.due.reduce((sum: number, { fetch }: { fetch: number }) => sum + fetch, 0);
  const text = (await plan()).stdout;
  expect(text).toMatch(
    new RegExp(
      `catalogue's mirror: ${fetches} known to fetch \\(\\d+ brands?, \\d+ models?, \\d+ sizes?\\), from`,
    ),
  );
  const dry = await armoire(["sync", "--account", "ada", "--with-catalogue", "--dry-run"]);
  expect(dry).toMatchObject({ exitCode: 0, stdout: text });
  expect(sandbox.log()).toHaveLength(sent);
  const { report } = await syncAda("--with-catalogue");
  // Including the root.
  expect(report.catalogue.resources.new).toBe(fetches + 1);
  expect((await plan()).stdout).toMatch(/mirror: all held\.\n$/);
});

it("no file but the token file contains the token, and all files are private", async () => {
  const before = process.umask(0);
  try {
    await syncAda("--with-catalogue", "--media");
  } finally {
    process.umask(before);
  }
  const token = sandbox.users[0]?.token ?? "";
  const kept = "accounts/ada/token";
  const found = execFileSync("grep", ["-rlaF", token, "."], { cwd: dataDir, encoding: "utf8" });
  expect(found.trim()).toBe(`./${kept}`);
  const open = execFileSync("find", ["accounts", "-perm", "/077"], { cwd: dataDir, encoding: "utf8" });
  expect(open).toBe("");
  expect(JSON.stringify(pictures.requests)).not.toContain(token);
});

it.each([
  [["sync", "--with-catalogue"], "--with-catalogue needs an account"],
  [["plan", "--with-catalogue"], "--with-catalogue needs an account"],
  [["sync", "--media"], "--media needs an account"],
  [["sync", "--account", "ada", "--media", "--dry-run"], "--dry-run and --media cannot be given together"],
])("the call %j is refused in one line", async (args, message) => {
  const result = await armoire([...args, ...(args.includes("--account") ? [] : ["--base-url", sandbox.url])]);
  expect(result).toMatchObject({ exitCode: 2, stdout: "", stderr: expect.stringContaining(message) });
});
