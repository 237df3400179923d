/**
 * The search for secrets where they do not belong. In: folders, and the secrets that are known. Out: which file holds which
 * of them, and in which spelling; never the secret; and what could not be looked into. It reads only.
 */
import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import type { AskPassphrase } from "../backup/open-backup.ts";
import { type Hidden, redact, secretSpellings } from "../service/credentials/credential.ts";
import type { Spelling } from "../service/credentials/secret-spellings.ts";
import { listFiles, reasonOf, type Unread } from "./list-files.ts";
import { headBytes, type Inside, lookInside, type WhyClosed, whyClosed } from "./look-inside.ts";
import { startSearch } from "./search-bytes.ts";

export interface KnownSecret {
  /** For people: "the token of the account ada". */
  readonly what: string;
  readonly credential: Hidden;
  /** Files that it is meant to be in. */
  readonly places: readonly string[];
}

export interface FoundSecret {
  /** Where its name holds a secret, that is left out. */
  readonly file: string;
  readonly what: string;
  readonly form: Spelling["form"];
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

interface Sought extends Spelling {
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
    secretSpellings(secret.credential).map((spelling) => ({ ...spelling, secret })),
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
  const forms = new Map<string, Spelling["form"]>();
  for (const { secret, form } of hits) if (!forms.has(secret.what)) forms.set(secret.what, form);
  return [...forms].map(([what, form]) => ({ what, form }));
}
