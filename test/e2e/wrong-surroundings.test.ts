import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { jsonResponse, startRawServer } from "../support/raw-server.ts";
import { callArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";
import { createFixture, type Fixture } from "./support/fixture.ts";
import { expectRefused, type RefusedCase } from "./support/refused-case.ts";

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Commands that read a mirror, with valid arguments. */
const readers: readonly (readonly string[])[] = [
  ["plan"],
  ["status"],
  ["runs"],
  ["show", "brand", "x"],
  ["query", "select 1"],
  ["export", "--out", "never-written"],
  ["mirror", "check"],
  ["mirror", "rebuild"],
  ["mirror", "compact"],
];

describe.each(readers)("%s", (...args) => {
  const cases: Readonly<Record<string, RefusedCase>> = {
    "a missing mirror is reported, with how to create one": [
      () => args,
      4,
      /There is no mirror in .*\n.*armoire sync/,
    ],
    "a file that is not a mirror is refused and not changed": [
      (f) => [...args, "--mirror", f.textFile],
      1,
      /This is not a (SQLite file|mirror)/,
    ],
  };
  it.concurrent.each(Object.entries(cases))("%s", (_case, refused) => expectRefused(fixture, refused));
});

describe("sync", () => {
  const app = (secret: string) => () => ({ ARMOIRE_APP_KEY: "key", ARMOIRE_APP_SECRET: secret });
  const syncTo =
    (...more: readonly string[]) =>
    (f: Fixture) => ["sync", "--base-url", f.sandbox.url, ...more];
  const cases: Readonly<Record<string, RefusedCase>> = {
    "without a base URL": [() => ["sync"], 4, /base URL is not set[\s\S]*--base-url URL/],
    "with half a credential": [
      syncTo(),
      4,
      /ARMOIRE_APP_KEY is set, but ARMOIRE_APP_SECRET is not/,
      () => ({ ARMOIRE_APP_KEY: "k" }),
    ],
    "with a credential that no header can carry": [syncTo(), 4, /application secret contains/, app("a\nb")],
    "with a credential file that is not there": [
      syncTo(),
      4,
      /The file of ARMOIRE_APP_SECRET_FILE does not exist/,
      () => ({ ARMOIRE_APP_KEY: "k", ARMOIRE_APP_SECRET_FILE: "/nonexistent/secret" }),
    ],
    "with a credential file that others could read": [
      syncTo(),
      4,
      /Other users may read or write .*notes\.txt\.\nRun: chmod 600 '.*notes\.txt'/,
      (f) => ({ ARMOIRE_APP_KEY: "k", ARMOIRE_APP_SECRET_FILE: f.textFile }),
    ],
    "with a config file that is not there": [
      syncTo("--config", "no-such.json"),
      4,
      /no-such\.json cannot be read/,
    ],
    "with a config file that is no JSON": [
      (f) => ["sync", "--config", f.textFile],
      4,
      /notes\.txt is not a JSON document\./,
    ],
    "into a file that is no mirror": [
      (f) => [...syncTo("--mirror", f.textFile)(f)],
      1,
      /This is not a (SQLite file|mirror)/,
    ],
    "into another program's database": [
      (f) => [...syncTo("--mirror", f.otherDatabase)(f)],
      1,
      /This is not a mirror/,
    ],
    "into a folder that cannot be": [
      (f) => [...syncTo("--data-dir", join(f.textFile, "below"))(f)],
      1,
      /Cannot write|Cannot open/,
    ],
    ...(process.platform === "linux" && {
      "below a folder that takes nothing": [
        syncTo("--data-dir", "/proc/armoire/data"),
        1,
        /Cannot write|Cannot open/,
      ],
      "into a file below one that takes nothing": [
        syncTo("--mirror", "/proc/armoire/m.sqlite"),
        1,
        /Cannot write|Cannot open/,
      ],
    }),
    "into a mirror of another service": [
      (f) => ["sync", "--base-url", f.closedUrl, "--mirror", f.mirror],
      4,
      /This mirror is of base URL/,
    ],
  };
  it.concurrent.each(Object.entries(cases))("a sync is refused %s", (_case, refused) =>
    expectRefused(fixture, refused),
  );
});

describe("config file", () => {
  const statusWith = async (config: unknown) => {
    const file = fixture.newPath();
    writeFileSync(file, JSON.stringify(config));
    return await callArmoire(["status", "--config", file]);
  };

  it.each([
    { baseUrl: "https://api.example.org/", token: "hunter2" },
    { hunter2: "https://api.example.org/" },
    { "hunter2.hunter2": 1, dataDir: "/nonexistent" },
  ])("a config file with an unknown setting is refused without showing its name or value", async (config) => {
    const result = await statusWith(config);
    expectRefusal(
      result,
      4,
      /new-\d+ has an unknown setting\.\nIt may contain dataDir, baseUrl, serviceName,/,
    );
    expect(result.stderr).toContain("Put secrets into the environment.");
    expect(result.stderr).not.toContain("hunter2");
  });

  it("a misspelt setting in the config file is refused with a suggestion", async () => {
    const result = await statusWith({ baseURI: "https://api.example.org/", citation: "x" });
    expectRefusal(result, 4, /has an unknown setting; did you mean baseUrl\?\n/);
  });

  it("a setting in the config file that is no text is refused by its name", async () => {
    expectRefusal(await statusWith({ dataDir: ["hunter2"] }), 4, /has a dataDir that is not a text\.\n/);
    expectRefusal(await statusWith(["hunter2"]), 4, /is not a JSON object\.\n/);
  });

  it.each([
    [
      "a text that no file name can hold",
      '{"dataDir":"x\\u0000"}',
      /has a dataDir that is not a valid text\.\n/,
    ],
    ["half a character", '{"dataDir":"x\\ud800"}', /has a dataDir that is not a valid text\.\n/],
    ["bytes that are not UTF-8", '{"dataDir":"x\xff"}', /is not UTF-8\.\n/],
    [
      "a setting twice",
      '{"dataDir":"a","license":"MIT","dataDir":"b"}',
      /new-\d+ has dataDir twice\.\nCorrect/,
    ],
  ])("a config file with %s is refused", async (_what, content, message) => {
    const file = fixture.newPath();
    writeFileSync(file, content, "latin1");
    expectRefusal(await callArmoire(["status", "--config", file]), 4, message);
  });
});

describe("export", () => {
  it("an export is refused if the folder is no export, which stays unchanged", async () => {
    const out = fixture.newPath();
    mkdirSync(out);
    writeFileSync(join(out, "mine.txt"), "mine");
    expectRefusal(await callArmoire(["export", "--out", out, "--mirror", fixture.mirror]), 1, /new-/);
    expect(readFileSync(join(out, "mine.txt"), "utf8")).toBe("mine");
  });

  it("an export is refused if the folder cannot be created", async () => {
    const out = join(fixture.textFile, "below");
    expectRefusal(await callArmoire(["export", "--out", out, "--mirror", fixture.mirror]), 1, /notes\.txt/);
  });
});

describe("show", () => {
  it("an unknown resource is reported with the valid forms of a key", async () => {
    const result = await callArmoire(["show", "brand", "nobody", "--mirror", fixture.mirror]);
    expectRefusal(result, 1, /holds no brand called "nobody"\.\n.*URL/);
  });
});

describe("unreachable service", () => {
  it("a service that cannot be reached fails the sync with its address and what to check", async () => {
    const result = await callArmoire([
      "sync",
      "--base-url",
      fixture.closedUrl,
      "--data-dir",
      fixture.newPath(),
    ]);
    expectRefusal(result, 1, /connection was refused[\s\S]*Check the base URL/);
    expect(result.stderr).toContain(fixture.closedUrl);
  });

  it("a service that cannot be reached fails the doctor, with the same text on stdout", async () => {
    const dataDir = fixture.newPath();
    const { stdout, stderr, exitCode } = await callArmoire([
      "doctor",
      "--data-dir",
      dataDir,
      "--base-url",
      fixture.closedUrl,
    ]);
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 1 });
    expect(stdout).toMatch(/✗ .*connection was refused/);
    expect(() => readFileSync(dataDir)).toThrow("ENOENT");
  });

  it("a server of another kind is distinguished from an unreachable service", async () => {
    await using server = await startRawServer((_request, socket) =>
      socket.end(jsonResponse({ hello: "world" })),
    );
    const { stdout, exitCode } = await callArmoire([
      "doctor",
      "--data-dir",
      fixture.newPath(),
      "--base-url",
      server.origin,
    ]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/✗ .*(not an envelope|not the root)/);
    const result = await callArmoire(["sync", "--data-dir", fixture.newPath(), "--base-url", server.origin]);
    expectRefusal(result, 1, /not an envelope/);
  });
});

it("a sandbox with a port in use fails with the reason", async () => {
  const port = new URL(fixture.sandbox.url).port;
  expectRefusal(await callArmoire(["sandbox", "--port", port]), 1, /cannot listen on .*port/);
});

it("an unlisted brand is refused with suggestions", async () => {
  const result = await callArmoire([
    "sync",
    "--base-url",
    fixture.sandbox.url,
    "--data-dir",
    fixture.newPath(),
    "--brand",
    "anna",
  ]);
  expectRefusal(result, 2, /no brand called "anna"\.\nDid you mean "Anna/);
});

it("a umask that masks the owner's access has no effect", async () => {
  await using folder = await temporaryFolder();
  const args = ["export", "--mirror", fixture.mirror, "--out", join(folder.path, "out"), "--table", "brand"];
  const umask = process.umask(0o777);
  const { result } = startArmoire(args);
  process.umask(umask);
  expect((await result).exitCode).toBe(0);
  const made = readdirSync(folder.path, { recursive: true, encoding: "utf8" }).map((name) => {
    const stats = statSync(join(folder.path, name));
    return [name, stats.mode & 0o777, stats.isDirectory()] as const;
  });
  expect(made.length).toBeGreaterThan(2);
  for (const [name, mode, isFolder] of made) expect([name, mode]).toEqual([name, isFolder ? 0o700 : 0o600]);
});
