/** Opening a mirror where there is none, or another file; foreign files are never overwritten. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { kinds } from "../../../jobs/kinds.ts";
import { migrations } from "../../../schema/migrations.ts";
import { createMirror } from "../../../src/mirror/file/create-mirror.ts";
import { MirrorError } from "../../../src/mirror/file/errors.ts";
import { openMirrorReader } from "../../../src/mirror/reader.ts";
import { openMirrorWriter } from "../../../src/mirror/writer.ts";
import { expectUnreadable } from "../../support/canary.ts";
import { canonicalDump } from "../../support/canonical-dump.ts";
import { withoutPrivileges } from "../../support/without-privileges.ts";
import { crawl, type MirrorRig, problemsOf, someTime, startMirrorRig } from "../support/mirror-rig.ts";
import { baseUrl, entity, page, root, worldOf } from "../support/world.ts";

let rig: MirrorRig;
beforeEach(async () => {
  rig = await startMirrorRig(baseUrl, { makesItself: true });
  onTestFinished(() => rig[Symbol.asyncDispose]());
});

const world = () => worldOf({ "/": root(), "brands/": page(["a/"]), "a/": entity({ name: "A" }) });

/** The errors of opening the file for reading, and for writing a mirror of that area. */
async function refusals(file: string, area: "catalogue" | "account" = "catalogue"): Promise<MirrorError[]> {
  const identity = { baseUrl, area, serviceName: "service" };
  const attempts = [
    async () => openMirrorReader(file).close(),
    async () => (await openMirrorWriter({ file, identity, kinds, openedAt: someTime })).close(),
  ];
  return Promise.all(
    attempts.map(async (attempt) => {
      const error = await attempt().then(
        () => "opened",
        (reason: unknown) => reason,
      );
      if (!(error instanceof MirrorError)) throw error;
      return error;
    }),
  );
}

const hashOf = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

describe("other files", () => {
  it.each<[string, (file: string) => void]>([
    ["text", (file) => writeFileSync(file, "Dear diary, ".repeat(1000))],
    ["a few bytes", (file) => writeFileSync(file, "hi")],
    ["empty", (file) => writeFileSync(file, "")],
    ["the beginning of a SQLite file", (file) => writeFileSync(file, "SQLite format 3\0")],
    [
      "another program's SQLite file",
      (file) => new Database(file).exec("create table note (text); insert into note values ('note')").close(),
    ],
    [
      "another program's SQLite file that has migrations too",
      (file) =>
        new Database(file)
          .exec(
            "create table _migration (name text, timestamp text); insert into _migration values ('0001-initial', '')",
          )
          .close(),
    ],
    [
      "a SQLite file without tables that has the application id",
      (file) => {
        const db = new Database(file);
        db.pragma("application_id = 1634888497");
        db.pragma("journal_mode = wal");
        db.close();
      },
    ],
  ])("a file that is no mirror (%s) is refused, and keeps its content and mode", async (_content, make) => {
    make(rig.file);
    chmodSync(rig.file, 0o644);
    const before = hashOf(rig.file);
    for (const error of [...(await refusals(rig.file)), ...(await refusals(rig.file, "account"))]) {
      expect(error.code).toMatch(/^(not-a-mirror|damaged)$/);
      expect(error.message).toContain(rig.file);
      expect(error.hint).not.toBe("");
    }
    expect(hashOf(rig.file)).toBe(before);
    expect(statSync(rig.file).mode & 0o777).toBe(0o644);
  });
});

it("a folder in place of the file is refused and not changed", async () => {
  mkdirSync(rig.file);
  chmodSync(rig.file, 0o755);
  for (const error of await refusals(rig.file, "account")) expect(error.message).toContain(rig.file);
  expect(statSync(rig.file).mode & 0o777).toBe(0o755);
  expect(readdirSync(rig.file)).toEqual([]);
});

it("a mirror from a newer version is refused with both versions, and not changed", async () => {
  const mirror = await rig.write();
  crawl(mirror, world());
  mirror.db.prepare("insert into _migration (name, timestamp) values ('9999-later', '')").run();
  mirror.close();
  expectUnreadable(rig.file);
  const before = hashOf(rig.file);
  for (const error of await refusals(rig.file)) {
    expect(error.code).toBe("newer");
    expect(error.message).toContain("9999-later");
    expect(error.message).toContain(Object.keys(migrations).at(-1));
  }
  expect(hashOf(rig.file)).toBe(before);
});

describe("missing mirror", () => {
  it("opening a missing mirror for reading fails and creates no file", () => {
    expect(() => openMirrorReader(rig.file)).toThrow(expect.objectContaining({ code: "not-found" }));
    expect(readdirSync(rig.folder)).toEqual([]);
  });

  it("opening a missing mirror for writing creates it and its folders", async () => {
    const file = join(rig.folder, "some", "where", "catalogue.sqlite");
    const identity = { baseUrl, area: "catalogue" as const, serviceName: "service" };
    (await openMirrorWriter({ file, identity, kinds, openedAt: someTime })).close();
    const mirror = openMirrorReader(file);
    expect(mirror.identity).toEqual(identity);
    mirror.close();
    expect(statSync(join(rig.folder, "some")).mode & 0o777).toBe(0o700);
  });

  it("a mirror whose creation was killed is created again", async () => {
    for (const suffix of [".new-0a", ".new-0a-wal", ".new-0a-shm"])
      writeFileSync(rig.file + suffix, "partial data");
    crawl(await rig.write(), world());
    expect(rig.read((mirror) => Object.keys(canonicalDump(mirror)))).toHaveLength(3);
    expect(readdirSync(rig.folder).filter((name) => name.includes(".new"))).toEqual([]);
  });

  it("a mirror is created under an unpredictable temporary name, whatever links and folders exist", async () => {
    const victim = join(rig.folder, "victim");
    writeFileSync(victim, "a file of another user");
    symlinkSync(victim, `${rig.file}.new-0a`);
    mkdirSync(`${rig.file}.new-0b`);
    const names = new Set<string>();
    for (const n of [1, 2, 3]) {
      await createMirror(rig.file, { baseUrl, area: "account", serviceName: "service" }, async () => {
        const [name = ""] = readdirSync(rig.folder).filter((entry) => /\.new-[0-9a-f]{12}$/.test(entry));
        expect(statSync(join(rig.folder, name)).mode & 0o077).toBe(0);
        names.add(name);
      });
      expect(names.size).toBe(n);
    }
    expect(readFileSync(victim, "utf8")).toBe("a file of another user");
    expect(rig.read(problemsOf)).toEqual([]);
  });

  it("creating a mirror replaces no link, even if its target exists", async () => {
    const target = join(rig.folder, "target");
    writeFileSync(target, "a file elsewhere");
    symlinkSync(target, rig.file);
    const identity = { baseUrl, area: "account", serviceName: "service" } as const;
    await expect(createMirror(rig.file, identity)).rejects.toMatchObject({ code: "not-a-file" });
    expect(readFileSync(rig.file, "utf8")).toBe("a file elsewhere");
    expect(readdirSync(rig.folder).filter((name) => name.includes(".new"))).toEqual([]);
  });

  it("the log of a mirror that was moved away is renamed and not replayed into the new mirror", async () => {
    writeFileSync(`${rig.file}-wal`, "the log of another mirror");
    crawl(await rig.write(), world());
    expect(readFileSync(`${rig.file}-wal.orphan-1`, "utf8")).toBe("the log of another mirror");
    expect(rig.read((mirror) => problemsOf(mirror))).toEqual([]);
  });

  it.each([
    ["whose folder is a file", () => join(rig.folder, "a-file", "catalogue.sqlite")],
    ["with a folder name that is too long", () => join(rig.folder, "x".repeat(300), "catalogue.sqlite")],
  ])("creating a mirror %s fails as unwritable", async (_reason, fileOf) => {
    writeFileSync(join(rig.folder, "a-file"), "");
    const file = fileOf();
    const identity = { baseUrl, area: "catalogue" as const, serviceName: "service" };
    await expect(openMirrorWriter({ file, identity, kinds, openedAt: someTime })).rejects.toThrow(
      expect.objectContaining({ name: "MirrorError", code: "unwritable" }),
    );
  });

  it("creating a mirror in a read-only folder fails as unwritable", async () => {
    chmodSync(rig.folder, 0o500);
    onTestFinished(() => chmodSync(rig.folder, 0o700));
    await expect(withoutPrivileges(() => rig.write())).rejects.toThrow(
      expect.objectContaining({ code: "unwritable" }),
    );
  });
});

describe("existing mirror", () => {
  it("reading one without write permission for its folder is refused, with a way out", async () => {
    (await rig.write()).close();
    chmodSync(rig.file, 0o644);
    chmodSync(rig.folder, 0o555);
    onTestFinished(() => chmodSync(rig.folder, 0o700));
    await expect(withoutPrivileges(async () => openMirrorReader(rig.file))).rejects.toMatchObject({
      code: "unwritable",
      message: expect.stringContaining("Reading the mirror needs write permission for its folder"),
      hint: expect.stringContaining("copy the mirror"),
    });
  });

  it("a mirror has the application id, write-ahead mode, full synchronization and foreign keys", async () => {
    const mirror = await rig.write();
    expect(mirror.db.pragma("application_id", { simple: true })).toBe(Buffer.from("arm1").readUInt32BE());
    expect(mirror.db.pragma("journal_mode", { simple: true })).toBe("wal");
    expect(mirror.db.pragma("synchronous", { simple: true })).toBe(2);
    expect(mirror.db.pragma("foreign_keys", { simple: true })).toBe(1);
  });

  it("opening an up-to-date mirror changes neither its schema nor its content", async () => {
    const mirror = await rig.write();
    crawl(mirror, world());
    const before = canonicalDump(mirror);
    const version = mirror.db.pragma("schema_version", { simple: true });
    mirror.close();
    const reopened = await rig.write();
    expect(reopened.db.pragma("schema_version", { simple: true })).toBe(version);
    expect(canonicalDump(reopened)).toEqual(before);
  });

  it("opening a mirror for writing replaces outdated public views", async () => {
    const mirror = await rig.write();
    const views = mirror.db.prepare("select name, sql from sqlite_schema where type = 'view' order by name");
    const before = views.all();
    mirror.db.exec("drop view brand_current; drop view known; create view known as select 1");
    mirror.close();
    expect(
      (await rig.write()).db
        .prepare("select name, sql from sqlite_schema where type = 'view' order by name")
        .all(),
    ).toEqual(before);
  });

  it.each(["account", "catalogue"] as const)(
    "all files of an %s mirror are private, whatever the umask",
    async (area) => {
      const umask = process.umask(0);
      onTestFinished(() => void process.umask(umask));
      const mirror = await rig.write({ area });
      mirror.addRoot(mirror.beginRun({ startedAt: someTime, mode: "incremental", scope: {} }));
      const modes = readdirSync(rig.folder).map((name) => [
        name,
        statSync(join(rig.folder, name)).mode & 0o077,
      ]);
      expect(modes.length).toBeGreaterThanOrEqual(5);
      expect(modes.filter(([, mode]) => mode !== 0)).toEqual([]);
    },
  );

  it("opening an account mirror that others can read makes it private", async () => {
    (await rig.write({ area: "account" })).close();
    chmodSync(rig.file, 0o644);
    await rig.write({ area: "account" });
    expect(statSync(rig.file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ["base URL", { baseUrl: "https://elsewhere.example/" }],
    ["base URL", { baseUrl: `${baseUrl}v2/` }],
    ["service name", { serviceName: "other" }],
    ["area", { area: "account" as const }],
  ])("a mirror of another %s is refused and not changed", async (fact, otherIdentity) => {
    const mirror = await rig.write();
    crawl(mirror, world());
    mirror.close();
    chmodSync(rig.file, 0o644);
    const before = hashOf(rig.file);
    await expect(rig.write(otherIdentity)).rejects.toThrow(
      expect.objectContaining({ code: "other-service", message: expect.stringContaining(fact) }),
    );
    expect(hashOf(rig.file)).toBe(before);
    expect(statSync(rig.file).mode & 0o777).toBe(0o644);
    (await rig.write()).close();
  });
});
