/** `armoire serve` as a process: what it prints, and how it ends. */
import { once } from "node:events";
import { createServer } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runArmoire, startArmoire } from "../support/run-armoire.ts";
import { type Rig, startRig } from "../sync/support/rig.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig({ brands: 2, models: 6, sizes: 20 });
  await rig.sync();
});
afterAll(() => rig[Symbol.asyncDispose]());

it("prints its address, serves, and ends with exit code 0 at Ctrl-C", async () => {
  const running = startArmoire(["serve", "--mirror", rig.file, "--port", "0", "--json"]);
  const [line] = await once(running.process.stdout, "data");
  const { pages, key } = JSON.parse(String(line));
  expect(key).toBe(null);
  expect(await (await fetch(new URL("/brands.json", pages))).json()).toHaveLength(2);
  running.process.kill("SIGINT");
  expect(await running.result).toMatchObject({ exitCode: 0, stderr: "" });
});

it("a port in use is one clear line", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { exitCode, stderr } = await runArmoire(["serve", "--mirror", rig.file, "--port", String(port)]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`Cannot listen on 127.0.0.1 port ${port}`);
  expect(stderr).toContain("Choose another --port, or 0 for any free one.");
  other.close();
});
