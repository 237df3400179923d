import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { freePort } from "../support/free-port.ts";
import { logLines } from "../support/log-lines.ts";
import { shellCommandsIn } from "../support/markdown.ts";
import { startRedis } from "../support/redis.ts";
import { type RunningArmoire, runArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operating.md"), "utf8");
const password = "CHANGE-ME";

/** The page's redis.conf, as options, without what only its own network and certificates have. */
function redisSettings(): string[] {
  const [, conf = ""] = /^```conf\n(.*?)^```$/ms.exec(page) ?? [];
  const settings = conf.split("\n").filter((line) => line !== "" && !/^(#|port|bind|tls-)/.test(line));
  return settings.flatMap((line) => line.split(" ")).map((word, n) => (n % 2 === 0 ? `--${word}` : word));
}

it("docs/operating.md: every command does what it says, in the order of the page", {
  timeout: 120_000,
}, async () => {
  const [redisPort, dashboardPort] = [await freePort(), await freePort()];
  await using _redis = await startRedis([...redisSettings(), "--port", redisPort, "--bind", "127.0.0.1"], {
    password,
  });
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, allowance: 5000 });
  writeFileSync(join(folder.path, "redis-url"), `redis://:${password}@127.0.0.1:${redisPort}\n`);
  const env: Record<string, string> = { ARMOIRE_DATA_DIR: join(folder.path, "data") };
  const running: RunningArmoire[] = [];
  const said: string[] = [];
  const shown = page
    .replaceAll("https://api.example.org/", sandbox.url)
    .replaceAll("9400", dashboardPort);
  for (const [program = "", ...words] of shellCommandsIn(shown)) {
    if (program === "export") {
      const [name = "", value = ""] = words.join("").split("=", 2);
      env[name] = value;
    }
    if (program === "curl") expect((await fetch(words.join())).status).toBe(200);
    if (program !== "armoire") continue;
    said.push(words.slice(0, 2).join(" "));
    const options = { env, cwd: folder.path };
    if (words[0] === "worker" || words[1] === "run") {
      const started = startArmoire(words, options);
      running.push(started);
      if (words[0] === "worker") for await (const { event } of logLines(started)) if (event === (words.includes("--dashboard") ? "dashboard" : "ready")) break;
      continue;
    }
    const { stdout, stderr, exitCode } = await runArmoire(words, options);
    expect({ words, exitCode, stderr }).toEqual({ words, exitCode: 0, stderr });
    expect(stdout).not.toBe("");
  }
  for (const { process, ended } of running) {
    process.kill("SIGTERM");
    const { exitCode, stderr } = await ended;
    // The second \`schedule run\` is the coordinator's, on the machine of the first.
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  }
  expect(said).toEqual([
    ...["sync --depth", "schedule add", "schedule list", "schedule run"],
    ...["worker --principal", "sync", "schedule run", "status", "worker --principal"],
  ]);
  // The second sync is the workers' work: it waits for them.
  expect(sandbox.log().length).toBeGreaterThan(14);
});
