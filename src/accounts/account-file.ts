/** `account.json`: the description of an account, without its token. */
import { z } from "zod";
import { scopeNames } from "../mirror/account/token-scopes.ts";
import { readPrivateFile, writePrivateFile } from "../platform/private-files.ts";
import { readOriginOrThrow } from "../service/same-origin.ts";
import type { Account, AccountPlace } from "./account.ts";
import { AccountError } from "./errors.ts";
import type { TokenMarks } from "./tokens/token-marks.ts";

const version = 1;

const content = z.object({
  version: z.literal(version),
  name: z.string(),
  baseUrl: z.string().refine(isBaseUrl),
  serviceName: z.string().min(1),
  userId: z.int().nullable(),
  username: z.string().nullable(),
  addedAt: z.iso.datetime(),
  tokenIn: z.enum(["keychain", "file"]),
  keychainEntry: z.string().min(1),
  mayBeInKeychain: z.boolean(),
  tokenAt: z.iso.datetime(),
  scopes: z.array(z.enum(scopeNames)).readonly(),
  unknownScopes: z.array(z.enum(scopeNames)).readonly().default([]),
  tokenMarks: z
    .object({ base: z.int(), forms: z.array(z.object({ length: z.int().min(1), hash: z.int() })).readonly() })
    .optional(),
});

/** The contents of `account.json`, without its version. */
export type AccountFacts = Omit<z.infer<typeof content>, "version">;

/** @throws FileError `unwritable` */
export function writeAccountFile({ accountFile }: AccountPlace, facts: AccountFacts): void {
  writePrivateFile(accountFile, `${JSON.stringify({ version, ...facts }, null, 2)}\n`);
}

/**
 * @returns null if there is no such file
 * @throws AccountError `damaged`, `newer`; FileError `unsafe`
 */
export function readAccountFile(place: AccountPlace, name: string): Account | null {
  const read = readContent(place, name);
  if (read === null) return null;
  const { version: _version, tokenMarks: _marks, ...facts } = read;
  return { ...place, ...facts };
}

/** Null if the token is in a file. @throws as `readAccountFile` */
export function readTokenMarks(account: Account): TokenMarks | null {
  return readContent(account, account.name)?.tokenMarks ?? null;
}

function readContent(place: AccountPlace, name: string): z.infer<typeof content> | null {
  const text = readPrivateFile(place.accountFile, { followsLinks: false });
  if (text === null) return null;
  const value = parse(text);
  const checked = content.safeParse(value);
  if (checked.success && checked.data.name === name) return checked.data;
  if (isNewer(value)) {
    throw new AccountError(
      "newer",
      `The account is from a newer version of Armoire: ${place.accountFile}`,
      "Install a newer Armoire. The file was not changed.",
    );
  }
  const problem = checked.success ? "belongs to another account" : "is damaged";
  throw new AccountError(
    "damaged",
    `The file ${problem}: ${place.accountFile}`,
    "Create it again with `armoire account add` and the same name; the mirror stays.",
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isNewer(value: unknown): boolean {
  const newer = z.object({ version: z.number().gt(version) });
  return newer.safeParse(value).success;
}

function isBaseUrl(text: string): boolean {
  try {
    readOriginOrThrow(text);
    return true;
  } catch {
    return false;
  }
}
