/**
 * Searches files for known secrets outside the files that they belong in. Out: which file holds which secret in which
 * encoding, never the secret itself, and which contents could not be searched. It only reads.
 */
import { createReadStream, type Dirent, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { AskPassphrase } from "../archive/container/open.ts";
import { encodingsOf, redact, type SecretText } from "../service/credentials/credential.ts";
import type { SecretEncoding } from "../service/credentials/secret-encodings.ts";
import {
  type EncodedContents,
  explainUnreadable,
  headBytes,
  readEncodedContents,
  type Unreadable,
} from "./encoded-contents.ts";

export interface KnownSecret {
  /** For people: "token of the account ada". */
  readonly label: string;
  readonly credential: SecretText;
  /** Absolute paths of the files that may hold it. */
  readonly places: readonly string[];
}

export interface FoundSecret {
  /** Its path, without secrets that are part of it. */
  readonly file: string;
  readonly label: string;
  readonly form: SecretEncoding["form"];
  /** `name`: the file's own name. `body`: a response of the service in a mirror. `archive`: an entry of an archive. */
  readonly in: "file" | "name" | EncodedContents["in"];
}

/** Data outside files, such as a key in Redis; it is searched as a file is. */
export interface SearchedItem {
  /** For people: the key and where it is. */
  readonly name: string;
  readonly pieces: Iterable<Buffer>;
}

/** A file whose plain bytes were searched, with contents that could not be decoded. */
export interface UnsearchedContents extends Unreadable {
  readonly path: string;
}

/** A file or folder that could not be read. */
export interface UnreadableFile {
  readonly path: string;
  /** The system's error code. */
  readonly why: string;
}

/** All paths are without secrets that are part of them. */
export interface SecretSearch {
  readonly folders: readonly string[];
  /** How many files were searched. */
  readonly files: number;
  /** How many items outside files were searched. */
  readonly otherItems: number;
  /** The size of the files. */
  readonly bytes: number;
  readonly found: readonly FoundSecret[];
  readonly unreadable: readonly UnreadableFile[];
  readonly unsearched: readonly UnsearchedContents[];
}

export interface FindSecretsOptions {
  /** Called for an encrypted archive. Default: encrypted contents are reported as `unsearched`. */
  readonly askPassphrase?: AskPassphrase;
  /** Data outside files. */
  readonly otherItems?: AsyncIterable<SearchedItem> | null;
  readonly signal?: AbortSignal;
}

interface EncodedSecret extends SecretEncoding {
  readonly secret: KnownSecret;
}

const maxPieceBytes = 1_048_576;

/**
 * Searches folders with all that is below them, and single files, for secrets in any usual encoding. Symbolic links are not
 * followed. What cannot be read is in the result.
 * @throws the signal's reason
 */
export async function findSecrets(
  folders: readonly string[],
  secrets: readonly KnownSecret[],
  { askPassphrase, otherItems = null, signal }: FindSecretsOptions = {},
): Promise<SecretSearch> {
  const encoded = secrets.flatMap((secret) =>
    encodingsOf(secret.credential).map((encoding) => ({ ...encoding, secret })),
  );
  const redactPath = (path: string) =>
    secrets.reduce((text, { credential }) => redact(credential, text), path);
  const found: FoundSecret[] = [];
  const unreadable: UnreadableFile[] = [];
  const unsearched: UnsearchedContents[] = [];
  let bytes = 0;

  const search = async (
    name: string,
    candidates: readonly EncodedSecret[],
    place: FoundSecret["in"],
    pieces: EncodedContents["pieces"],
  ) => {
    const matcher = startSearch(candidates);
    try {
      for await (const piece of pieces) matcher.add(piece);
    } finally {
      for (const { label, form } of onePerSecret(matcher.found))
        found.push({ file: redactPath(name), label, form, in: place });
    }
  };
  const searchFile = async (file: string) => {
    const candidates = encoded.filter(({ secret }) => !secret.places.includes(file));
    await search(file, candidates, "name", [Buffer.from(file)]);
    const before = found.length;
    let head: Buffer | null = null;
    const pieces = readPieces(file, (piece) => {
      bytes += piece.length;
      head ??= Buffer.from(piece.subarray(0, headBytes));
    });
    await search(file, candidates, "file", pieces);
    // After the file is closed here: closing it while SQLite has it open would end SQLite's locks.
    const contents = await readEncodedContents(file, head ?? Buffer.alloc(0), askPassphrase);
    if (contents === null) return;
    // Stored entries of an archive are in the plain bytes, too.
    const known = new Set(found.slice(before).map(({ label }) => label));
    const others = candidates.filter(({ secret }) => !known.has(secret.label));
    await search(file, others, contents.in, contents.pieces);
  };

  const places = [...new Set(folders.map((folder) => resolve(folder)))];
  const files = new Set(places.flatMap((folder) => listFiles(folder, unreadable)));
  for (const file of files) {
    signal?.throwIfAborted();
    try {
      await searchFile(file);
    } catch (error) {
      const reason = explainUnreadable(error);
      if (reason !== null) unsearched.push({ path: redactPath(file), ...reason });
      else if (reasonOf(error) !== "ENOENT") unreadable.push({ path: file, why: reasonOf(error) });
    }
  }
  let otherItemCount = 0;
  for await (const { name, pieces } of otherItems ?? []) {
    signal?.throwIfAborted();
    otherItemCount++;
    await search(name, encoded, "name", [Buffer.from(name)]);
    await search(name, encoded, "file", pieces);
  }
  return {
    folders: places.map(redactPath),
    files: files.size,
    otherItems: otherItemCount,
    bytes,
    found,
    unreadable: unreadable.map(({ path, why }) => ({ path: redactPath(path), why })),
    unsearched,
  };
}

async function* readPieces(file: string, onPiece: (piece: Buffer) => void): AsyncGenerator<Buffer> {
  // A buffer is allocated for each file: it need not be larger than the file.
  const highWaterMark = Math.max(1, Math.min(statSync(file).size, maxPieceBytes));
  for await (const piece of createReadStream(file, { highWaterMark })) {
    onPiece(piece);
    yield piece;
  }
}

/** The first encoding that was found of each secret. */
function onePerSecret(matches: ReadonlySet<EncodedSecret>): Pick<FoundSecret, "label" | "form">[] {
  const forms = new Map<string, SecretEncoding["form"]>();
  for (const { secret, form } of matches) if (!forms.has(secret.label)) forms.set(secret.label, form);
  return [...forms].map(([label, form]) => ({ label, form }));
}

/**
 * Finds which encodings occur in a sequence of bytes, also across its pieces. The caller may reuse the memory of a piece
 * after `add` returns.
 */
export function startSearch<Encoding extends SecretEncoding>(
  encodings: readonly Encoding[],
): { add(piece: Buffer): void; readonly found: ReadonlySet<Encoding> } {
  const found = new Set<Encoding>();
  const overlapBytes = Math.max(0, ...encodings.map(({ bytes }) => bytes.length)) - 1;
  let tail = Buffer.alloc(0);
  return {
    found,
    add(piece) {
      const bytes = tail.length === 0 ? piece : Buffer.concat([tail, piece]);
      for (const encoding of encodings)
        if (!found.has(encoding) && bytes.includes(encoding.bytes)) found.add(encoding);
      tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlapBytes)));
    },
  };
}

/**
 * The regular files in a folder and below it; symbolic links are left out.
 * @param unreadable receives the folders that cannot be listed
 */
export function listFiles(folder: string, unreadable: UnreadableFile[]): string[] {
  let entries: Dirent[];
  try {
    if (statSync(folder).isFile()) return [folder];
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    unreadable.push({ path: folder, why: reasonOf(error) });
    return [];
  }
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path, unreadable);
    return entry.isFile() ? [path] : [];
  });
}

/** The system's error code, or else the message. */
function reasonOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
