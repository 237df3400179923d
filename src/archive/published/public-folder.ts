/** Refuses folders with private files: others can read all that is in a published folder. */
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { isKeptFile } from "../../platform/files/replaceable-files.ts";
import { isPrivateKey } from "../../platform/private-files.ts";
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
