import { expect, it } from "vitest";
import { logLines } from "../support/log-lines.ts";
import { startRedis } from "../support/redis.ts";
import { callArmoire, startArmoire } from "../support/run-armoire.ts";
import { expectRefusal } from "./support/expect-refusal.ts";

it("a worker prints the dashboard's address, and warns if others can reach it", async () => {
  await using redis = await startRedis();
  const args = ["worker", "--redis", redis.url, "--base-url", "http://127.0.0.1:9/", "--dashboard", "0"];
  const worker = startArmoire([...args, "--dashboard-host", "0.0.0.0"]);
  const events: Record<string, unknown>[] = [];
  for await (const line of logLines(worker)) {
    events.push(line);
    if (line.event === "exposed") break;
  }
  const { url } = events.find(({ event }) => event === "dashboard") as { url: string };
  expect((await fetch(`http://127.0.0.1:${new URL(url).port}/healthz`)).status).toBe(200);
  worker.process.kill("SIGTERM");
  expect(await worker.result).toMatchObject({ exitCode: 0, stdout: "" });
  expect(events).toEqual([
    expect.objectContaining({ level: "info", event: "ready", principals: ["catalogue"], concurrency: 8 }),
    expect.objectContaining({ level: "info", event: "dashboard" }),
    expect.objectContaining({ level: "warn", msg: expect.stringContaining("has no password") }),
  ]);
});

it.for([{ args: ["--dashboard-host", "127.0.0.1"], message: /need --dashboard/ }])(
  "a worker refuses $args",
  async ({ args, message }) => {
    const usual = ["worker", "--redis", "redis://127.0.0.1:9", "--base-url", "http://127.0.0.1:9/"];
    expectRefusal(await callArmoire([...usual, ...args]), 2, message);
  },
);

it("a worker refuses an invalid port", async () => {
  await using redis = await startRedis();
  const usual = ["worker", "--redis", redis.url, "--base-url", "http://127.0.0.1:9/"];
  const { exitCode, stderr } = await callArmoire([...usual, "--dashboard", "70000"]);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("from 0 to 65535"),
  });
});
