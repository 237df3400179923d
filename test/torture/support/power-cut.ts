/**
 * Rebuilds what is on disk after a power cut, from the folder before a command and the record of its operations.
 *
 * The model assumes the least that POSIX promises:
 * - data of a file, its length included, is there after a successful `fsync` of the file;
 * - a name, its absence included, is there after a successful `fsync` of its folder;
 * - a failed `fsync` loses what it should have flushed: later calls succeed without it, as on Linux;
 * - what was there before the command is there.
 *
 * In the variant `names`, names need no `fsync`, while data does, as with file systems that delay allocation: renaming a
 * file that was not flushed then gives an empty file. Torn sectors and reordering within unflushed data are not modelled,
 * because unflushed data is absent.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import type { Operation } from "./operations.ts";

export type Variant = "flushed" | "names";

interface DiskFile {
  readonly type: "file";
  readonly mode: number;
  flushed: Buffer;
  /** In order; later writes replace earlier ones. */
  pending: Change[];
}

type Change = { readonly at: number; readonly data: Buffer } | { readonly length: number };

interface DiskFolder {
  readonly type: "folder";
  readonly entries: Map<string, Entry>;
  flushed: Map<string, Entry>;
}

interface DiskLink {
  readonly type: "link";
  readonly text: string;
}

type Entry = DiskFile | DiskFolder | DiskLink;

export class Disk {
  readonly #root: string;
  readonly #tree: DiskFolder;
  readonly #byInode = new Map<number, DiskFile>();

  /** @param base a copy of the folder `root` before the command */
  constructor(base: string, root: string) {
    this.#root = root;
    this.#tree = readFolder(base);
  }

  apply(operation: Operation): void {
    const { op, errno, inode, offset, path, target, data } = operation;
    if (errno !== 0) {
      if (op === "sync") this.#requireFile(inode, path).pending = [];
      return;
    }
    switch (op) {
      case "create":
      case "open": {
        const found = op === "create" ? newFile() : this.#find(path);
        if (found?.type !== "file") return;
        if (op === "create") this.#folderOf(path).entries.set(basename(path), found);
        if (offset === 1 && op === "open") found.pending.push({ length: 0 });
        this.#byInode.set(inode, found);
        return;
      }
      case "write":
        this.#requireFile(inode, path).pending.push({ at: offset, data });
        return;
      case "truncate":
        this.#requireFile(inode, path).pending.push({ length: offset });
        return;
      case "sync": {
        const file = this.#requireFile(inode, path);
        file.flushed = contentOf(file);
        file.pending = [];
        return;
      }
      case "syncFolder": {
        const folder = this.#find(path);
        if (folder?.type === "folder") folder.flushed = new Map(folder.entries);
        return;
      }
      case "rename": {
        const moved = this.#find(path);
        if (moved === undefined) throw new Error(`${path} was renamed but does not exist`);
        this.#folderOf(path).entries.delete(basename(path));
        this.#folderOf(target).entries.set(basename(target), moved);
        return;
      }
      case "link": {
        const linked = this.#find(path);
        if (linked !== undefined) this.#folderOf(target).entries.set(basename(target), linked);
        return;
      }
      case "symlink":
        this.#folderOf(path).entries.set(basename(path), { type: "link", text: target });
        return;
      case "unlink":
      case "removeFolder":
        this.#folderOf(path).entries.delete(basename(path));
        return;
      case "makeFolder":
        this.#folderOf(path).entries.set(basename(path), {
          type: "folder",
          entries: new Map(),
          flushed: new Map(),
        });
        return;
    }
  }

  /** Writes what a power cut now would leave into an empty folder. */
  write(folder: string, variant: Variant): void {
    writeFolder(this.#tree, folder, variant);
  }

  #find(path: string): Entry | undefined {
    let entry: Entry | undefined = this.#tree;
    for (const name of relative(this.#root, path).split("/").filter(Boolean))
      entry = entry?.type === "folder" ? entry.entries.get(name) : undefined;
    return entry;
  }

  #folderOf(path: string): DiskFolder {
    const folder = this.#find(dirname(path));
    if (folder?.type !== "folder") throw new Error(`The folder of ${path} is not known`);
    return folder;
  }

  #requireFile(inode: number, path: string): DiskFile {
    const file = this.#byInode.get(inode);
    if (file === undefined) throw new Error(`A file was written that was not opened: inode ${inode} ${path}`);
    return file;
  }
}

const newFile = (): DiskFile => ({ type: "file", mode: 0o600, flushed: Buffer.alloc(0), pending: [] });

function contentOf({ flushed, pending }: DiskFile): Buffer {
  let content = flushed;
  const resize = (length: number) => {
    const resized = Buffer.alloc(length);
    content.copy(resized);
    content = resized;
  };
  if (pending.length > 0) content = Buffer.from(content);
  for (const change of pending) {
    if ("length" in change) resize(change.length);
    else {
      if (content.length < change.at + change.data.length) resize(change.at + change.data.length);
      change.data.copy(content, change.at);
    }
  }
  return content;
}

function readFolder(path: string): DiskFolder {
  const entries = new Map(readdirSync(path).map((name) => [name, readEntry(join(path, name))]));
  return { type: "folder", entries, flushed: new Map(entries) };
}

function readEntry(path: string): Entry {
  const stats = lstatSync(path);
  if (stats.isDirectory()) return readFolder(path);
  if (stats.isSymbolicLink()) return { type: "link", text: readlinkSync(path) };
  return { type: "file", mode: stats.mode & 0o777, flushed: readFileSync(path), pending: [] };
}

function writeFolder({ entries, flushed }: DiskFolder, path: string, variant: Variant): void {
  mkdirSync(path, { mode: 0o700, recursive: true });
  for (const [name, entry] of variant === "names" ? entries : flushed) {
    const place = join(path, name);
    if (entry.type === "folder") writeFolder(entry, place, variant);
    else if (entry.type === "link") symlinkSync(entry.text, place);
    else {
      writeFileSync(place, entry.flushed);
      chmodSync(place, entry.mode);
    }
  }
}
