import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { beforeAll, describe, expect, it } from "vitest";
import { FileError } from "../../src/platform/errors.ts";
import {
  openRegularFile,
  readRegularFile,
  requireOwnFile,
  requireRegularFile,
} from "../../src/platform/files/regular-files.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

let folder = "";
const at = (name: string) => (name.startsWith("/") ? name : join(folder, name));

beforeAll(async () => {
  const temporary = await temporaryFolder();
  folder = temporary.path;
  writeFileSync(at("file"), "content");
  symlinkSync(at("file"), at("link"));
  symlinkSync(at("nothing"), at("link-to-nothing"));
  mkdirSync(at("folder"));
  execFileSync("mkfifo", [at("pipe")]);
  symlinkSync(at("pipe"), at("link-to-pipe"));
  return () => temporary[Symbol.asyncDispose]();
});

const others = [
  ["pipe", "a named pipe"],
  ["link-to-pipe", "a named pipe"],
  ["folder", "a folder"],
  ["/dev/zero", "a device"],
] as const;

describe("anything but a regular file is refused at once", () => {
  it.each(others)("%s is refused as %s", (name, type) => {
    const refusal = { code: "not-a-file", message: `${at(name)} is ${type}, not a regular file.` };
    for (const use of [openRegularFile, requireRegularFile, (path: string) => readRegularFile(path, 10)])
      expect(() => use(at(name))).toThrow(expect.objectContaining(refusal));
  });

  it("a link to nothing is refused where SQLite would create its target", () => {
    const message = `${at("link-to-nothing")} is a symbolic link, not a regular file.`;
    expect(() => requireRegularFile(at("link-to-nothing"))).toThrow(message);
    expect(() => requireOwnFile(at("link-to-nothing"))).toThrow(message);
  });

  it("a link is refused in the place of a file that only Armoire makes", () => {
    expect(() => requireOwnFile(at("link"))).toThrow(FileError);
    expect([requireOwnFile(at("file")), requireOwnFile(at("nothing"))]).toEqual([true, false]);
  });
});

it("a regular file is opened and read, also through a link", () => {
  closeSync(openRegularFile(at("link")));
  expect(readRegularFile(at("link"), 7).toString()).toBe("content");
  expect([requireRegularFile(at("link")), requireRegularFile(at("nothing"))]).toEqual([true, false]);
});

it("a file that is longer than expected is refused", () => {
  expect(() => readRegularFile(at("file"), 6)).toThrow(`${at("file")} is larger than 6 bytes`);
});

it("a file that is created and removed at the same time is there or not, but always a regular file", async () => {
  const script = `const { closeSync, openSync, unlinkSync } = require("node:fs");
    const { parentPort, workerData } = require("node:worker_threads");
    parentPort.postMessage("started");
    for (;;) { closeSync(openSync(workerData, "w")); unlinkSync(workerData); }`;
  const other = new Worker(script, { eval: true, workerData: at("unsteady") });
  try {
    await once(other, "message");
    const found = new Set<boolean>();
    for (let look = 0; look < 20_000 || (found.size < 2 && look < 10_000_000); look++)
      found.add(requireRegularFile(at("unsteady")));
    expect([...found].sort()).toEqual([false, true]);
  } finally {
    await other.terminate();
  }
});
