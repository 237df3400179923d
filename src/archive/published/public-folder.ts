/** Refuses folders with private files: others can read all that is in a published folder. */
import { closeSync, existsSync, lstatSync, readdirSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { listCatalogueMirrors } from "../../mirror/file/paths.ts";
import { openRegularFile } from "../../platform/files/regular-files.ts";
import { holdsOwnFiles } from "../../platform/files/replaceable-files.ts";
import { BackupError } from "../errors.ts";

export interface PublicFolder {
  /** It exists. */
  readonly folder: string;
  /** Where Armoire keeps mirrors and accounts. */
  readonly dataDir?: string | undefined;
  /** The file of the key that signs. */
  readonly keyFile?: string | undefined;
}

/** @throws BackupError `wrong-place`; a system error */
export function requirePublicFolder({ folder, dataDir, keyFile }: PublicFolder): void {
  if (dataDir !== undefined && (isWithin(dataDir, folder) || isWithin(folder, dataDir)))
    throw refuse(`The data directory must not be published: ${folder}`);
  if (holdsOwnFiles(folder) || listCatalogueMirrors(folder).length > 0)
    throw refuse(`The folder holds mirrors, accounts or schedules: ${folder}`);
  const key =
    keyFile !== undefined && isWithin(keyFile, folder)
      ? keyFile
      : readdirSync(folder)
          .map((name) => join(folder, name))
          .find(isPrivateKey);
  if (key !== undefined) throw refuse(`The folder holds a private key: ${key}`);
}

const refuse = (message: string) =>
  new BackupError(
    "wrong-place",
    message,
    "Nothing was published. Others can read all files there; name a folder for nothing else.",
  );

function isWithin(path: string, folder: string): boolean {
  const way = relative(withoutLinks(folder), withoutLinks(path));
  return !way.startsWith("..") && !isAbsolute(way);
}

const withoutLinks = (path: string) => (existsSync(path) ? realpathSync(path) : resolve(path));

/** More than any key has. */
const maxKeyBytes = 65_536;

/** In PEM, as OpenSSL, OpenSSH and Armoire write it. */
function isPrivateKey(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined || !stats.isFile() || stats.size > maxKeyBytes) return false;
  const handle = openRegularFile(path);
  try {
    const bytes = Buffer.alloc(maxKeyBytes);
    const text = bytes.toString("latin1", 0, readSync(handle, bytes));
    return /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(text);
  } finally {
    closeSync(handle);
  }
}
