/** Bulk deletions and partial lists at the command line. */
import { expect, it } from "vitest";
import { callArmoire } from "../support/run-armoire.ts";
import { startRig } from "../sync/support/rig.ts";

it("a bulk removal waits for approval with exit code 12 and the command that approves it", async () => {
  await using rig = await startRig({ brands: 10, models: 10, sizes: 10 });
  await rig.sync();
  rig.sandbox.advance({ removals: 4, kind: "brand" });
  const args = ["sync", "--mirror", rig.file, "--base-url", rig.sandbox.url, "--mode", "verify"];
  const waiting = await callArmoire(args);
  expect(waiting).toMatchObject({ exitCode: 12, stderr: "" });
  expect(waiting.stdout).toMatch(
    /Waiting for approval, \d+ in all: 4 of 10 of kind brand in http:\S+ .* `armoire sync --approve` accepts them\.\n/,
  );
  expect((await callArmoire([...args, "--json"])).exitCode).toBe(12);
  const approved = await callArmoire([...args, "--approve"]);
  expect(approved).toMatchObject({ exitCode: 0, stderr: "" });
  expect(approved.stdout).not.toContain("approv");
});

it("a partial list gives exit code 3 and is shown by status", async () => {
  await using rig = await startRig({ brands: 10, models: 10, sizes: 10 });
  rig.sandbox.setFaults([{ kind: "brands", times: "always", fault: "wrong-total", value: 12 }]);
  const args = ["--mirror", rig.file];
  const { exitCode, stdout } = await callArmoire(["sync", ...args, "--base-url", rig.sandbox.url]);
  expect(exitCode).toBe(3);
  expect(stdout).toMatch(/^1 list is partial and proves no removals; `armoire status` shows where\.$/m);
  expect((await callArmoire(["status", ...args])).stdout).toContain("says 12, lists 10");
});

it("a list that lost all its items waits for approval, and status shows it", async () => {
  await using rig = await startRig({ brands: 10, models: 10, sizes: 10 });
  await rig.sync();
  rig.sandbox.setFaults([{ kind: "brands", times: "always", fault: "empty-collection" }]);
  const args = ["sync", "--mirror", rig.file, "--base-url", rig.sandbox.url];
  const waiting = await callArmoire([...args, "--mode", "verify"]);
  expect(waiting.exitCode).toBe(12);
  expect(waiting.stdout).toMatch(/Waiting for approval, 10 in all: 10 of 10 of kind brand in http:\S+ /);
  expect(waiting.stdout).not.toContain("up to date");
  const status = await callArmoire(["status", "--mirror", rig.file]);
  expect(status.stdout).toMatch(
    /Lists that lost all their items, .*:\n {2}http:\S+brands\S*\n {4}10 of kind brand\n/,
  );
  expect(JSON.parse((await callArmoire(["status", "--mirror", rig.file, "--json"])).stdout)).toMatchObject({
    awaitingApproval: 10,
    emptiedLists: [{ url: expect.stringContaining("brands"), kind: "brand", items: 10 }],
  });
  expect((await callArmoire([...args, "--approve"])).exitCode).toBe(0);
  expect((await callArmoire(args)).stdout).toContain("up to date");
});
