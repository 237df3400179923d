/**
 * The search for secrets where they do not belong. In: folders, and the secrets that are known. Out: which file holds which
 * of them, and in which spelling; never the secret; and what could not be looked into. It reads only.
 */
import { createReadStream, type Dirent, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { AskPassphrase } from "../archive/container/open.ts";
import { encodingsOf, redact, type SecretText } from "../service/credentials/credential.ts";
import type { SecretEncoding } from "../service/credentials/secret-encodings.ts";
import { headBytes, type Inside, lookInside, type WhyClosed, whyClosed } from "./archive-contents.ts";

export interface KnownSecret {
  /** For people: "the token of the account ada". */
  readonly what: string;
  readonly credential: SecretText;
  /** Files that it is meant to be in. */
  readonly places: readonly string[];
}

export interface FoundSecret {
  /** Where its name holds a secret, that is left out. */
  readonly file: string;
  readonly what: string;
  readonly form: SecretEncoding["form"];
  /** `name`: in the file's own name; `body`: in what the service sent, which a mirror keeps compressed; `archive`: in what is packed in it. */
  readonly in: "file" | "name" | Inside["in"];
}

/** Something that is no file, and is searched as files are. */
export interface Searched {
  /** For people: what and where it is. */
  readonly name: string;
  readonly pieces: Iterable<Buffer>;
}

export interface Closed extends WhyClosed {
  readonly path: string;
}

export interface SecretSearch {
  /** Where was searched; where a path holds a secret, that is left out. */
  readonly folders: readonly string[];
  /** How many were searched. */
  readonly files: number;
  /** How much besides files was. */
  readonly others: number;
  /** How large these are. */
  readonly bytes: number;
  readonly found: readonly FoundSecret[];
  /** Files and folders that could not be read. */
  readonly unread: readonly Unread[];
  /** Files that were searched as they are, but hold something that could not be looked into. */
  readonly closed: readonly Closed[];
}

export interface FindSecretsOptions {
  /** Asked for where a file is encrypted; such files stay closed unless told. */
  readonly askPassphrase?: AskPassphrase;
  /** What to search besides files. */
  readonly others?: AsyncIterable<Searched> | null;
  readonly signal?: AbortSignal;
}

interface Sought extends SecretEncoding {
  readonly secret: KnownSecret;
}

const mostPieceBytes = 1_048_576;

/** Symbolic links are not followed. */
export async function findSecrets(
  folders: readonly string[],
  secrets: readonly KnownSecret[],
  { askPassphrase, others = null, signal }: FindSecretsOptions = {},
): Promise<SecretSearch> {
  const sought = secrets.flatMap((secret) =>
    encodingsOf(secret.credential).map((spelling) => ({ ...spelling, secret })),
  );
  const hide = (path: string) => secrets.reduce((rest, { credential }) => redact(credential, rest), path);
  const found: FoundSecret[] = [];
  const [unread, closed]: [Unread[], Closed[]] = [[], []];
  let bytes = 0;
  const places = [...new Set(folders.map((folder) => resolve(folder)))];
  const files = new Set(places.flatMap((folder) => listFiles(folder, unread)));
  const searchAs = async (
    name: string,
    wanted: readonly Sought[],
    place: FoundSecret["in"],
    pieces: Inside["pieces"],
  ) => {
    const { add, found: hits } = startSearch(wanted);
    try {
      for await (const piece of pieces) add(piece);
    } finally {
      for (const { what, form } of onePerSecret(hits))
        found.push({ file: hide(name), what, form, in: place });
    }
  };
  for (const file of files) {
    signal?.throwIfAborted();
    const wanted = sought.filter(({ secret }) => !secret.places.includes(file));
    const search = searchAs.bind(null, file, wanted);
    try {
      await search("name", [Buffer.from(file)]);
      const head: Buffer[] = [];
      await search(
        "file",
        readPieces(file, (piece) => {
          bytes += piece.length;
          if (head.length === 0) head.push(Buffer.from(piece.subarray(0, headBytes)));
        }),
      );
      // Not while the file is read here: to close it would take SQLite's locks away from this process.
      const inside = lookInside(file, Buffer.concat(head), askPassphrase);
      if (inside !== null) await search(inside.in, inside.pieces);
    } catch (error) {
      const why = whyClosed(error);
      if (why !== null) closed.push({ path: hide(file), ...why });
      else if (reasonOf(error) !== "ENOENT") unread.push({ path: hide(file), why: reasonOf(error) });
    }
  }
  let searchedOthers = 0;
  for await (const { name, pieces } of others ?? []) {
    signal?.throwIfAborted();
    searchedOthers++;
    await searchAs(name, sought, "name", [Buffer.from(name)]);
    await searchAs(name, sought, "file", pieces);
  }
  return {
    folders: places.map(hide),
    files: files.size,
    others: searchedOthers,
    bytes,
    found,
    unread,
    closed,
  };
}

async function* readPieces(file: string, see: (piece: Buffer) => void): AsyncGenerator<Buffer> {
  // Each file gets a buffer of its own, which need not be larger than the file.
  const highWaterMark = Math.max(1, Math.min(statSync(file).size, mostPieceBytes));
  for await (const piece of createReadStream(file, { highWaterMark })) {
    see(piece);
    yield piece;
  }
}

/** The first of its spellings that was found says enough. */
function onePerSecret(hits: ReadonlySet<Sought>): Pick<FoundSecret, "what" | "form">[] {
  const forms = new Map<string, SecretEncoding["form"]>();
  for (const { secret, form } of hits) if (!forms.has(secret.what)) forms.set(secret.what, form);
  return [...forms].map(([what, form]) => ({ what, form }));
}

/**
 * Which of the spellings occur in a sequence of bytes, also across its pieces; the pieces may be given as they are read.
 * @param spellings of any number of secrets; what is found is among them
 */
export function startSearch<Sought extends SecretEncoding>(
  spellings: readonly Sought[],
): { add(piece: Buffer): void; readonly found: ReadonlySet<Sought> } {
  const found = new Set<Sought>();
  const overlap = Math.max(0, ...spellings.map(({ bytes }) => bytes.length)) - 1;
  let end = Buffer.alloc(0);
  return {
    found,
    add(piece) {
      const bytes = end.length === 0 ? piece : Buffer.concat([end, piece]);
      for (const spelling of spellings)
        if (!found.has(spelling) && bytes.includes(spelling.bytes)) found.add(spelling);
      end = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlap)));
    },
  };
}

/** What could not be read, and the system's word for why. */
export interface Unread {
  readonly path: string;
  readonly why: string;
}

/**
 * The regular files in a folder and below it; where symbolic links lead is left out.
 * @param unread gets what cannot be listed
 */
export function listFiles(folder: string, unread: Unread[]): string[] {
  let entries: Dirent[];
  try {
    if (statSync(folder).isFile()) return [folder];
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    unread.push({ path: folder, why: reasonOf(error) });
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path, unread);
    return entry.isFile() ? [path] : [];
  });
}

/** The system's code of an error, or else its words. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
