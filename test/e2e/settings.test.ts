import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeSecretFile } from "../support/canary.ts";
import { runArmoire, temporaryFolder } from "../support/run-armoire.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
beforeAll(async () => {
  folder = await temporaryFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

type Shown = Readonly<Record<string, readonly [value: string | null, from: string]>>;

/** The settings in the output of doctor. */
async function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  const home = { XDG_CONFIG_HOME: join(folder.path, "config"), XDG_DATA_HOME: join(folder.path, "data") };
  const { stdout } = await runArmoire(["doctor", "--offline", "--json", ...args], {
    env: { ...home, ...env },
  });
  const { settings } = JSON.parse(stdout) as {
    settings: { name: string; value: string | null; from: string }[];
  };
  return Object.fromEntries(settings.map(({ name, value, from }) => [name, [value, from]]));
}

describe("precedence", () => {
  const flags = [
    "--base-url",
    "https://flag.example/",
    "--service-name",
    "flag",
    "--data-dir",
    "/nonexistent/flag",
  ];
  const env = {
    ARMOIRE_BASE_URL: "https://env.example/",
    ARMOIRE_SERVICE_NAME: "env",
    ARMOIRE_DATA_DIR: "/nonexistent/env",
  };

  it("a setting has a default", async () => {
    expect(await readSettings([])).toEqual({
      dataDir: [join(folder.path, "data", "armoire"), "default"],
      baseUrl: [null, "not set"],
      serviceName: ["service", "default"],
      mirror: [null, "not set"],
      credential: ["none", "not set"],
    });
  });

  it("a setting comes from the default or the named config file before defaults", async () => {
    const usual = join(folder.path, "config", "armoire", "config.json");
    mkdirSync(join(usual, ".."), { recursive: true });
    writeFileSync(usual, JSON.stringify({ baseUrl: "https://file.example", serviceName: "file" }));
    const named = join(folder.path, "named.json");
    writeFileSync(named, JSON.stringify({ dataDir: "/nonexistent/file" }));
    const [fromUsual, fromNamed] = await Promise.all([readSettings([]), readSettings(["--config", named])]);
    expect(fromUsual).toMatchObject({
      baseUrl: ["https://file.example/", usual],
      serviceName: ["file", usual],
      dataDir: [expect.any(String), "default"],
    });
    expect(fromNamed).toMatchObject({ baseUrl: [null, "not set"], dataDir: ["/nonexistent/file", named] });
  });

  it("a setting comes from a non-empty variable before the config file", async () => {
    const file = join(folder.path, "all.json");
    writeFileSync(
      file,
      JSON.stringify({ baseUrl: "https://file.example/", serviceName: "file", dataDir: "/nonexistent/file" }),
    );
    const [fromEnv, fromFile] = await Promise.all([
      readSettings(["--config", file], env),
      readSettings(["--config", file], {
        ...env,
        ARMOIRE_BASE_URL: "",
        ARMOIRE_SERVICE_NAME: "",
        ARMOIRE_DATA_DIR: "",
      }),
    ]);
    expect(fromEnv).toMatchObject({
      baseUrl: ["https://env.example/", "ARMOIRE_BASE_URL"],
      serviceName: ["env", "ARMOIRE_SERVICE_NAME"],
      dataDir: ["/nonexistent/env", "ARMOIRE_DATA_DIR"],
    });
    expect(fromFile).toMatchObject({ baseUrl: ["https://file.example/", file], serviceName: ["file", file] });
  });

  it("a setting comes from the command line before everything else", async () => {
    expect(await readSettings([...flags, "--mirror", "/nonexistent/m.sqlite"], env)).toMatchObject({
      baseUrl: ["https://flag.example/", "command line"],
      serviceName: ["flag", "command line"],
      dataDir: ["/nonexistent/flag", "command line"],
      mirror: ["/nonexistent/m.sqlite", "command line"],
    });
  });

  it("a setting is never shown if it is secret", async () => {
    const secret = "canary-s3cr3t";
    const secretFile = join(folder.path, "secret");
    writeSecretFile(secretFile, `${secret}\n`);
    const ofEnv = { ARMOIRE_APP_KEY: "canary-key", ARMOIRE_APP_SECRET: secret };
    const ofFile = { ARMOIRE_APP_KEY: "canary-key", ARMOIRE_APP_SECRET_FILE: secretFile };
    for (const settings of await Promise.all([readSettings([], ofEnv), readSettings([], ofFile)])) {
      expect(settings.credential).toEqual(["application key", "environment"]);
      expect(JSON.stringify(settings)).not.toMatch(/canary/);
    }
  });
});
