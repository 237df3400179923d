/**
 * The search for secrets where they do not belong. In: folders, and the secrets that are known. Out: which file holds which
 * of them, and in which spelling; never the secret. It reads only.
 */
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { MirrorError } from "../mirror/errors.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/mirror.ts";
import { readBodies } from "../mirror/read-bodies.ts";
import { type Credential, redact, secretSpellings } from "../service/credential.ts";
import type { Spelling } from "../service/secret-spellings.ts";
import { listFiles, reasonOf, type Unread } from "./list-files.ts";
import { startSearch } from "./search-bytes.ts";

export interface KnownSecret {
  /** For people: "the token of the account ada". */
  readonly what: string;
  readonly credential: Credential;
  /** Files that it is meant to be in. */
  readonly places: readonly string[];
}

export interface FoundSecret {
  /** Where its name holds a secret, that is left out. */
  readonly file: string;
  readonly what: string;
  readonly form: Spelling["form"];
  /** `name`: in the file's own name; `body`: in what the service sent, which a mirror keeps compressed. */
  readonly in: "file" | "name" | "body";
}

export interface SecretSearch {
  /** How many were searched. */
  readonly files: number;
  readonly found: readonly FoundSecret[];
  /** Files and folders that could not be read. */
  readonly unread: readonly Unread[];
}

interface Sought extends Spelling {
  readonly secret: KnownSecret;
}

/** Symbolic links are not followed. */
export async function findSecrets(
  folders: readonly string[],
  secrets: readonly KnownSecret[],
  signal?: AbortSignal,
): Promise<SecretSearch> {
  const sought = secrets.flatMap((secret) =>
    secretSpellings(secret.credential).map((spelling) => ({ ...spelling, secret })),
  );
  const hide = (path: string) => secrets.reduce((rest, { credential }) => redact(credential, rest), path);
  const found: FoundSecret[] = [];
  const unread: Unread[] = [];
  const files = new Set(folders.flatMap((folder) => listFiles(resolve(folder), unread)));
  for (const file of files) {
    signal?.throwIfAborted();
    const wanted = sought.filter(({ secret }) => !secret.places.includes(file));
    const note = (place: FoundSecret["in"], hits: ReadonlySet<Sought>) => {
      for (const { what, form } of onePerSecret(hits))
        found.push({ file: hide(file), what, form, in: place });
    };
    const name = startSearch(wanted);
    name.add(Buffer.from(file));
    note("name", name.found);
    try {
      const { hits, isSqlite } = await searchFile(file, wanted);
      note("file", hits);
      // Not while the file is read here: to close it would take SQLite's locks away from this process.
      if (isSqlite) note("body", searchBodies(file, wanted));
    } catch (error) {
      if (reasonOf(error) !== "ENOENT") unread.push({ path: hide(file), why: reasonOf(error) });
    }
  }
  return { files: files.size, found, unread };
}

async function searchFile(
  file: string,
  wanted: readonly Sought[],
): Promise<{ readonly hits: ReadonlySet<Sought>; readonly isSqlite: boolean }> {
  const search = startSearch(wanted);
  let isSqlite: boolean | null = null;
  for await (const piece of createReadStream(file, { highWaterMark: 1_048_576 })) {
    isSqlite ??= piece.subarray(0, 15).toString("latin1") === "SQLite format 3";
    search.add(piece);
  }
  return { hits: search.found, isSqlite: isSqlite ?? false };
}

/** Of a mirror, what its bodies say once they are decompressed; nothing of another file. */
function searchBodies(file: string, wanted: readonly Sought[]): ReadonlySet<Sought> {
  let mirror: MirrorReader;
  try {
    mirror = openMirrorReader(file);
  } catch (error) {
    if (error instanceof MirrorError) return new Set();
    throw error;
  }
  try {
    const hits = new Set<Sought>();
    for (const body of readBodies(mirror.db)) {
      const search = startSearch(wanted);
      search.add(body);
      for (const hit of search.found) hits.add(hit);
    }
    return hits;
  } finally {
    mirror.close();
  }
}

/** The first of its spellings that was found says enough. */
function onePerSecret(
  hits: ReadonlySet<Sought>,
): { readonly what: string; readonly form: Spelling["form"] }[] {
  const forms = new Map<string, Spelling["form"]>();
  for (const { secret, form } of hits) if (!forms.has(secret.what)) forms.set(secret.what, form);
  return [...forms].map(([what, form]) => ({ what, form }));
}
