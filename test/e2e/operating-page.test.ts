import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { writeSecretFile } from "../support/canary.ts";
import { freePort } from "../support/free-port.ts";
import { shellCommandsIn } from "../support/markdown.ts";
import { startRedis } from "../support/redis.ts";
import { callArmoire, type RunningArmoire, startArmoire, temporaryFolder } from "../support/run-armoire.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operating.md"), "utf8");
const password = "CHANGE-ME";
/** These need packages that only users of telemetry install. */
const ofTelemetry = ["ARMOIRE_TELEMETRY", "NODE_OPTIONS"];

/** The page's redis.conf as options, without its network and certificates. */
function redisSettings(): string[] {
  const [, conf = ""] = /^```conf\n(.*?)^```$/ms.exec(page) ?? [];
  const settings = conf.split("\n").filter((line) => line !== "" && !/^(#|port|bind|tls-)/.test(line));
  return settings.flatMap((line) => line.split(" ")).map((word, n) => (n % 2 === 0 ? `--${word}` : word));
}

it("all commands of docs/operating.md succeed in the order of the page", async () => {
  const [redisPort, dashboardPort] = [await freePort(), await freePort()];
  await using _redis = await startRedis([...redisSettings(), "--port", redisPort, "--bind", "127.0.0.1"]);
  await using folder = await temporaryFolder();
  await using sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, allowance: 5000 });
  writeSecretFile(join(folder.path, "redis-url"), `redis://:${password}@127.0.0.1:${redisPort}\n`);
  const env: Record<string, string> = { ARMOIRE_DATA_DIR: join(folder.path, "data") };
  const workers: RunningArmoire[] = [];
  const executed: string[] = [];
  const localPage = page
    .replaceAll("https://api.example.org/", sandbox.url)
    .replaceAll("9400", dashboardPort);
  for (const [program = "", ...args] of shellCommandsIn(localPage)) {
    if (program === "export") {
      const [name = "", value = ""] = args.join("").split("=", 2);
      if (!ofTelemetry.includes(name)) env[name] = value;
    }
    if (program === "curl") expect(await fetch(args.join())).toMatchObject({ status: 200 });
    if (program !== "armoire") continue;
    const options = { env, cwd: folder.path };
    const command = args.slice(0, 2).join(" ");
    executed.push(command);
    if (command === "worker --principal") {
      const worker = startArmoire(args, options);
      workers.push(worker);
      await untilPrinted(worker, args.includes("--dashboard") ? "The dashboard is at" : "Sending requests");
    } else if (command === "schedule run") {
      const scheduler = startArmoire(args, options);
      await untilPrinted(scheduler, "Running ");
      await expectCleanExit(scheduler);
    } else {
      const { stdout, stderr, exitCode } = await callArmoire(args, options);
      expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr });
      expect(stdout).not.toBe("");
    }
  }
  const [first, second] = workers;
  if (first === undefined || second === undefined) throw new Error("the page starts two workers");
  await expectCleanExit(first);
  // A sync whose requests the worker with the dashboard sends, so that all metrics of the page's table have values.
  const verify = await callArmoire(["sync", "--mode", "verify"], { env, cwd: folder.path });
  expect(verify).toMatchObject({ exitCode: 0 });
  const metrics = await (await fetch(`http://127.0.0.1:${dashboardPort}/metrics`)).text();
  const [, table = ""] = /^\| metric \| meaning \|$(.*?)^$/ms.exec(page) ?? [];
  const named = [...table.matchAll(/armoire_\w+/g)].map(([name]) => name);
  const known = named.filter((name) => metrics.includes(`# TYPE ${name} `));
  expect({ named, known }).toEqual({ named, known: named });
  await expectCleanExit(second);
  expect(executed).toEqual([
    ...["sync --depth", "schedule add", "schedule list", "schedule run", "schedule add"],
    ...["worker --principal", "sync", "schedule run", "status", "worker --principal"],
  ]);
});

async function untilPrinted({ process, result }: RunningArmoire, args: string): Promise<void> {
  for await (const line of createInterface(process.stderr)) if (line.includes(args)) return;
  throw new Error(`${args} was not printed: ${JSON.stringify(await result)}`);
}

async function expectCleanExit({ process, result }: RunningArmoire): Promise<void> {
  process.kill("SIGTERM");
  expect(await result).toMatchObject({ exitCode: 0 });
}
