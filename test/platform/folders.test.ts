import fs, { fstatSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { inNewFolders, makeFolders } from "../../src/platform/folders.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

it("missing folders are created for the owner only and returned", async () => {
  await using folder = await temporaryFolder();
  const [outer, inner, innermost] = ["a", "a/b", "a/b/c"].map((path) => join(folder.path, path));
  mkdirSync(outer as string);
  expect(makeFolders(innermost as string)).toEqual([innermost, inner]);
  expect(statSync(inner as string).mode & 0o777).toBe(0o700);
  expect(makeFolders(innermost as string)).toEqual([]);
});

it.each([
  [false, 0o755],
  [true, 0o700],
])("folders above an output are made with its modes (private: %s)", async (isPrivate, mode) => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "a/b/file");
  const umask = process.umask(0o022);
  try {
    await inNewFolders(file, isPrivate, async () => writeFileSync(file, ""));
  } finally {
    process.umask(umask);
  }
  for (const made of ["a", "a/b"]) expect(statSync(join(folder.path, made)).mode & 0o777).toBe(mode);
});

it("folders above an output that fails are removed again, if they were made for it and are empty", async () => {
  await using folder = await temporaryFolder();
  mkdirSync(join(folder.path, "old"));
  const fail = (place: string, before = () => {}) =>
    inNewFolders(join(folder.path, place), true, async () => {
      before();
      throw new Error("failed");
    });
  await expect(fail("old/a/b/file")).rejects.toThrow("failed");
  await expect(fail("old/file")).rejects.toThrow("failed");
  expect(readdirSync(folder.path, { recursive: true })).toEqual(["old"]);
  const other = join(folder.path, "c/other");
  await expect(fail("c/d/file", () => writeFileSync(other, ""))).rejects.toThrow("failed");
  expect(readdirSync(join(folder.path, "c"))).toEqual(["other"]);
});

/** Calls `use` with another `fsyncSync`. */
function withFsync(fsync: typeof fs.fsyncSync, use: () => void): void {
  const original = fs.fsyncSync;
  fs.fsyncSync = fsync;
  syncBuiltinESMExports();
  try {
    use();
  } finally {
    fs.fsyncSync = original;
    syncBuiltinESMExports();
  }
}

it("the name of every new folder is flushed in its parent", async () => {
  await using folder = await temporaryFolder();
  const flushed: number[] = [];
  const inodeOf = (path: string) => statSync(join(folder.path, path)).ino;
  withFsync(
    (handle) => void flushed.push(fstatSync(handle).ino),
    () => makeFolders(join(folder.path, "a/b/c")),
  );
  expect(flushed).toEqual(["", "a", "a/b"].map(inodeOf));
});

it("a folder whose name could not be flushed is not left behind as if it were durable", async () => {
  await using folder = await temporaryFolder();
  withFsync(
    () => {
      throw new Error("EIO");
    },
    () => expect(() => makeFolders(join(folder.path, "a"))).toThrow("EIO"),
  );
  expect(readdirSync(folder.path)).toEqual([]);
});

it("symbolic links are followed; a dangling one is an error", async () => {
  await using folder = await temporaryFolder();
  const [place, link, dangling] = ["place", "link", "dangling"].map((name) => join(folder.path, name));
  mkdirSync(place as string);
  symlinkSync(place as string, link as string);
  symlinkSync(join(folder.path, "nowhere"), dangling as string);
  expect(makeFolders(join(link as string, "x"))).toEqual([join(link as string, "x")]);
  expect(makeFolders(link as string)).toEqual([]);
  expect(() => makeFolders(join(dangling as string, "x"))).toThrow("EEXIST");
});

it("a file in place of a folder is an error that names it", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "file");
  writeFileSync(file, "");
  expect(() => makeFolders(file)).toThrow("EEXIST");
  expect(() => makeFolders(join(file, "x", "y"))).toThrow("ENOTDIR");
});

it.runIf(process.platform === "linux")(
  "an existing folder in which nothing can be created is an error",
  () => {
    expect(() => makeFolders("/proc/armoire/x")).toThrow("ENOENT");
  },
);
