/** One writer and any number of readers; a lock needs no clean-up after its process. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { shareLock, takeLock } from "../../src/platform/process-lock.ts";
import { type Child, startChild } from "../mirror/support/children.ts";
import { type MirrorRig, someTime, startMirrorRig } from "../mirror/support/mirror-rig.ts";
import { canonicalDump } from "../support/canonical-dump.ts";

let rig: MirrorRig;
beforeEach(async () => {
  rig = await startMirrorRig();
  onTestFinished(() => rig[Symbol.asyncDispose]());
});

async function startHolder(): Promise<Child> {
  const child = startChild("holding-process.ts", rig.file);
  expect(await child.readLine()).toBe("held");
  return child;
}

it("a second process learns who holds the lock and may still read", async () => {
  await using holder = await startHolder();
  await expect(rig.write()).rejects.toThrow(
    expect.objectContaining({
      code: "locked",
      message: expect.stringContaining(`process ${holder.pid} on ${hostname()} since ${someTime}`),
    }),
  );
  expect(rig.read(canonicalDump)).toEqual({});
});

it("a killed process releases its lock", async () => {
  const holder = await startHolder();
  await holder.kill();
  expect(existsSync(`${rig.file}.holder.json`)).toBe(true);
  const mirror = await rig.write();
  expect(JSON.parse(readFileSync(`${rig.file}.holder.json`, "utf8"))).toMatchObject({ pid: process.pid });
  mirror.close();
});

it("closing the mirror releases the lock and clears the holder's note", async () => {
  (await rig.write()).close();
  expect(existsSync(`${rig.file}.holder.json`)).toBe(false);
  await using holder = await startHolder();
  await holder.end();
  (await rig.write()).close();
});

it("a second writer in the same process is refused without releasing the lock", async () => {
  await rig.write();
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(rig.write()).rejects.toThrow(expect.objectContaining({ code: "locked" }));
  }
  await using target = startChild("holding-process.ts", rig.file);
  expect(await target.readLine()).toMatch(/^locked: The mirror .* is in use by process/);
});

it("of several processes creating the same mirror, exactly one succeeds", async () => {
  const children = Array.from({ length: 4 }, () => startChild("holding-process.ts", rig.file));
  try {
    const responses = await Promise.all(children.map((child) => child.readLine()));
    expect(responses.filter((response) => response === "held")).toHaveLength(1);
    expect(responses.filter((response) => response?.startsWith("locked: "))).toHaveLength(3);
  } finally {
    await Promise.all(children.map((child) => child.kill()));
  }
  expect(rig.read(canonicalDump)).toEqual({});
});

it("two processes never hold a removed and recreated lock at the same time", async () => {
  const children = Array.from({ length: 3 }, () =>
    startChild("../../platform/support/locking-process.ts", rig.file, "200"),
  );
  const responses = await Promise.all(children.map((child) => child.readLine()));
  expect(responses).toEqual(children.map(() => "200 rounds, 0 shared"));
  expect(existsSync(`${rig.file}.lock`)).toBe(false);
});

it("a writer whose lock file was removed takes the lock again before it writes", async () => {
  const mirror = await rig.write();
  rmSync(`${rig.file}.lock`);
  mirror.beginRun({ startedAt: someTime, mode: "incremental", scope: {} });
  await using second = startChild("holding-process.ts", rig.file);
  expect(await second.readLine()).toMatch(/^locked: The mirror .* is in use by process/);
  mirror.close();
  expect(existsSync(`${rig.file}.holder.json`)).toBe(false);
});

it("a writer whose lock was removed and taken by another process writes nothing more", async () => {
  const mirror = await rig.write();
  const runId = mirror.beginRun({ startedAt: someTime, mode: "incremental", scope: {} });
  rmSync(`${rig.file}.lock`);
  await using second = await startHolder();
  const refusal = {
    code: "locked",
    message: expect.stringContaining(`is in use by process ${second.pid} on ${hostname()}`),
  };
  for (const write of [() => mirror.addRoot(runId), () => mirror.ingest([], runId)])
    expect(write).toThrow(expect.objectContaining(refusal));
  mirror.close();
  // The lock is still that of the other process, and named after it.
  expect(JSON.parse(readFileSync(`${rig.file}.holder.json`, "utf8"))).toMatchObject({ pid: second.pid });
  await expect(rig.write()).rejects.toThrow(expect.objectContaining(refusal));
});

it("a lock that cannot name its holder leaves no file that it made", () => {
  const module = JSON.stringify(join(import.meta.dirname, "../../src/platform/process-lock.ts"));
  const script = `import { takeLock } from ${module};
    try { takeLock(process.argv[1], { startedAt: "", busyMessage: "" }) } catch ({ code }) { process.exitCode = code === "unwritable" ? 7 : 1 }`;
  // No file can grow, as on a full disk.
  const take = () =>
    spawnSync("sh", [
      ...["-c", 'trap "" XFSZ; ulimit -f 0; exec "$@"', "sh", process.execPath],
      ...["--input-type=module", "-e", script, rig.file],
    ]).status;
  const files = () => readdirSync(rig.folder);
  expect([take(), files()]).toEqual([7, []]);
  takeLock(rig.file, { startedAt: someTime, busyMessage: "It is in use" }).release();
  expect([take(), files()]).toEqual([7, [`${basename(rig.file)}.lock`]]);
});

it("a lock is held by any number of sharers or by one exclusive owner", () => {
  const shared = [shareLock(rig.file, "It is in use"), shareLock(rig.file, "It is in use")];
  for (const lock of shared) {
    expect(() => takeLock(rig.file, { startedAt: someTime, busyMessage: "It is in use" })).toThrow(
      /in use by another process/,
    );
    lock.release();
  }
  const lock = takeLock(rig.file, { startedAt: someTime, busyMessage: "It is in use" });
  expect(() => shareLock(rig.file, "It is in use")).toThrow(`in use by process ${process.pid} `);
  lock.releaseAndRemove();
  shareLock(rig.file, "It is in use").release();
});

it.each(["", "{", "null", '{"pid":1}'])("a holder's note of %j locks nothing", async (note) => {
  (await rig.write()).close();
  writeFileSync(`${rig.file}.holder.json`, note);
  (await rig.write()).close();
});

it("an unreadable holder's note is reported as another process", async () => {
  await rig.write();
  writeFileSync(`${rig.file}.holder.json`, "{");
  await expect(rig.write()).rejects.toThrow(/in use by another process/);
});

it("a different file in place of the lock file is not overwritten", async () => {
  writeFileSync(`${rig.file}.lock`, "somebody's notes".repeat(50));
  await expect(rig.write()).rejects.toThrow(expect.objectContaining({ name: "FileError" }));
  expect(readFileSync(`${rig.file}.lock`, "utf8")).toBe("somebody's notes".repeat(50));
});

it("a symbolic link in place of the note is not followed for writing", async () => {
  const target = `${rig.file}-other`;
  writeFileSync(target, "of another user");
  symlinkSync(target, `${rig.file}.holder.json`);
  const lock = takeLock(rig.file, { startedAt: someTime, busyMessage: "It is in use" });
  expect(JSON.parse(readFileSync(`${rig.file}.holder.json`, "utf8"))).toMatchObject({ pid: process.pid });
  lock.release();
  expect(readFileSync(target, "utf8")).toBe("of another user");
});
