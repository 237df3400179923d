import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
