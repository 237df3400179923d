/** One writer, whoever else wants to write; any number of readers; and a lock that nobody has to clean up. */
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
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

it("a second process is told who holds the mirror, and may read it meanwhile", async () => {
  await using holder = await startHolder();
  await expect(rig.write()).rejects.toThrow(
    expect.objectContaining({
      code: "locked",
      message: expect.stringContaining(`process ${holder.pid} on ${hostname()} since ${someTime}`),
    }),
  );
  expect(rig.read(canonicalDump)).toEqual({});
});

it("the lock vanishes with a process that is killed, whatever it leaves behind", async () => {
  const holder = await startHolder();
  await holder.kill();
  expect(existsSync(`${rig.file}.holder.json`)).toBe(true);
  const mirror = await rig.write();
  expect(JSON.parse(readFileSync(`${rig.file}.holder.json`, "utf8"))).toMatchObject({ pid: process.pid });
  mirror.close();
});

it("the lock ends when the mirror is closed, and says no more who held it", async () => {
  (await rig.write()).close();
  expect(existsSync(`${rig.file}.holder.json`)).toBe(false);
  await using holder = await startHolder();
  await holder.end();
  (await rig.write()).close();
});

it("a second writer in the same process is refused, and its attempt does not end the lock", async () => {
  await rig.write();
  for (let attempt = 0; attempt < 3; attempt++) {
    await expect(rig.write()).rejects.toThrow(expect.objectContaining({ code: "locked" }));
  }
  await using other = startChild("holding-process.ts", rig.file);
  expect(await other.readLine()).toMatch(/^locked: The mirror .* is in use by process/);
});

it("of several processes that want to make the same new mirror, one does", async () => {
  const children = Array.from({ length: 4 }, () => startChild("holding-process.ts", rig.file));
  try {
    const answers = await Promise.all(children.map((child) => child.readLine()));
    expect(answers.filter((answer) => answer === "held")).toHaveLength(1);
    expect(answers.filter((answer) => answer?.startsWith("locked: "))).toHaveLength(3);
  } finally {
    await Promise.all(children.map((child) => child.kill()));
  }
  expect(rig.read(canonicalDump)).toEqual({});
});

it("a lock that is removed by whoever held it is never had by two", async () => {
  const children = Array.from({ length: 3 }, () =>
    startChild("../../platform/support/locking-process.ts", rig.file, "200"),
  );
  const answers = await Promise.all(children.map((child) => child.readLine()));
  expect(answers).toEqual(children.map(() => "200 rounds, 0 shared"));
  expect(existsSync(`${rig.file}.lock`)).toBe(false);
});

it("is shared by any number, and then by nobody alone; had by one alone, it is not shared", () => {
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

it.each(["", "{", "null", '{"pid":1}'])("a holder's note that says %j locks nothing", async (note) => {
  (await rig.write()).close();
  writeFileSync(`${rig.file}.holder.json`, note);
  (await rig.write()).close();
});

it("a holder whose note cannot be read is another process", async () => {
  await rig.write();
  writeFileSync(`${rig.file}.holder.json`, "{");
  await expect(rig.write()).rejects.toThrow(/in use by another process/);
});

it("what is no lock file in the lock's place is not overwritten", async () => {
  writeFileSync(`${rig.file}.lock`, "somebody's notes".repeat(50));
  await expect(rig.write()).rejects.toThrow(expect.objectContaining({ name: "FileError" }));
  expect(readFileSync(`${rig.file}.lock`, "utf8")).toBe("somebody's notes".repeat(50));
});

it("a link in the place of the note leads to nothing that is written", async () => {
  const other = `${rig.file}-other`;
  writeFileSync(other, "of somebody else");
  symlinkSync(other, `${rig.file}.holder.json`);
  const lock = takeLock(rig.file, { startedAt: someTime, busyMessage: "It is in use" });
  expect(JSON.parse(readFileSync(`${rig.file}.holder.json`, "utf8"))).toMatchObject({ pid: process.pid });
  lock.release();
  expect(readFileSync(other, "utf8")).toBe("of somebody else");
});
