/** Refuses folders with private files: others can read all that is in a published folder. */
import { closeSync, existsSync, lstatSync, readdirSync, readSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { openRegularFile } from "../../platform/files/regular-files.ts";
import { isKeptFile } from "../../platform/files/replaceable-files.ts";
import { BackupError } from "../errors.ts";

export interface PublicFolder {
  /** It exists. */
  readonly folder: string;
  /** Where Armoire keeps mirrors and accounts. */
  readonly dataDir?: string | undefined;
  /** The file of the key that signs. */
  readonly keyFile?: string | undefined;
}

/** Looks at all files, also in folders below. @throws BackupError `wrong-place`; a system error */
export function requirePublicFolder({ folder, dataDir, keyFile }: PublicFolder): void {
  if (dataDir !== undefined && (isWithin(dataDir, folder) || isWithin(folder, dataDir)))
    throw refuse(`The data directory must not be published: ${folder}`);
  if (keyFile !== undefined && isWithin(keyFile, folder)) throw holdsKey(keyFile);
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink() && !isWithin(path, folder))
      throw refuse(`A link leads out of the folder: ${path}`);
    if (!entry.isFile()) continue;
    if (isKeptFile(path)) throw refuse(`The folder holds mirrors, accounts or schedules: ${path}`);
    if (isPrivateKey(path)) throw holdsKey(path);
  }
}

const holdsKey = (file: string) => refuse(`The folder holds a private key: ${file}`);

const refuse = (message: string) =>
  new BackupError(
    "wrong-place",
    message,
    "Nothing was published. Others can read all files there; name a folder for nothing else.",
  );

function isWithin(path: string, folder: string): boolean {
  const way = relative(withoutLinks(folder), withoutLinks(path));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
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
