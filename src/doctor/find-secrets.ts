/**
 * Searches files for known secrets outside the files that they belong in. Out: which file holds which secret in which
 * encoding, never the secret itself, and which contents could not be searched. It only reads.
 */
import { createReadStream, readlinkSync, statSync } from "node:fs";
import { resolve } from "node:path";
import type { AskPassphrase } from "../archive/container/open.ts";
import { encodingsOf, redact, type SecretText } from "../service/credentials/credential.ts";
import { isInLines, readingsOf } from "../service/credentials/search.ts";
import type { SecretEncoding } from "../service/credentials/secret-encodings.ts";
import {
  type EncodedContents,
  explainUnreadable,
  headBytes,
  isEncoded,
  readEncodedContents,
  type Unreadable,
  UnreadableContentError,
} from "./encoded-contents.ts";
import { type Entry, leadsOut, listEntries, reasonOf, type UnreadableFile } from "./list-entries.ts";
import { readLongValues } from "./long-values.ts";

export interface KnownSecret {
  /** For people: "token of the account ada". */
  readonly label: string;
  readonly credential: SecretText;
  /** Absolute paths of the files that may hold it. */
  readonly places: readonly string[];
}

/** `escaped`: in escapes of JSON or URLs, or in base64 with line ends. */
export type SecretForm = SecretEncoding["form"] | "escaped";

export interface FoundSecret {
  /** Its path, without secrets that are part of it. */
  readonly file: string;
  readonly label: string;
  readonly form: SecretForm;
  /** `name`: the file's own name, or the target of a link. `body`: a response of the service in a mirror. `archive`: an entry of an archive. */
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
      for (const { label, form } of onePerSecret(matcher))
        found.push({ file: redactPath(name), label, form, in: place });
    }
  };
  const searchFile = async ({ path: file, place }: Entry) => {
    const candidates = encoded.filter(({ secret }) => !secret.places.includes(file));
    await search(file, candidates, "name", [Buffer.from(place)]);
    const before = found.length;
    let head: Buffer | null = null;
    const pieces = readPieces(place, (piece) => {
      bytes += piece.length;
      head ??= Buffer.from(piece.subarray(0, headBytes));
    });
    await search(file, candidates, "file", pieces);
    // After the file is closed here: closing it while SQLite has it open would end SQLite's locks.
    const contents = await readContents(file, place, head ?? Buffer.alloc(0), askPassphrase);
    if (contents === null) return;
    // Stored entries of an archive are in the plain bytes, too.
    const known = new Set(found.slice(before).map(({ label }) => label));
    const others = candidates.filter(({ secret }) => !known.has(secret.label));
    await search(file, others, contents.in, contents.pieces);
  };

  const searchOther = async ({ path, place, is }: Entry) => {
    await search(path, encoded, "name", [Buffer.from(place)]);
    if (is === "special") throw new UnreadableContentError("special", "it is a pipe, socket or device");
    if (is !== "link") return;
    await search(path, encoded, "name", [readlinkSync(place, { encoding: "buffer" })]);
    if (leadsOut(place, places))
      throw new UnreadableContentError("link", "it is a symbolic link to another place");
  };

  const places = [...new Set(folders.map((folder) => resolve(folder)))];
  const entries = places.flatMap((folder) => listEntries(folder, unreadable));
  const unique = [
    ...new Map(entries.map((entry) => [Buffer.from(entry.place).toString("latin1"), entry])).values(),
  ];
  for (const entry of unique) {
    const { path, is } = entry;
    signal?.throwIfAborted();
    try {
      await (is === "file" ? searchFile(entry) : searchOther(entry));
    } catch (error) {
      const reason = explainUnreadable(error);
      if (reason !== null) unsearched.push({ path: redactPath(path), ...reason });
      else if (reasonOf(error) !== "ENOENT") unreadable.push({ path, why: reasonOf(error) });
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
    files: unique.filter(({ is }) => is === "file").length,
    otherItems: otherItemCount,
    bytes,
    found,
    unreadable: unreadable.map(({ path, why }) => ({ path: redactPath(path), why })),
    unsearched,
  };
}

/** @throws an error that `explainUnreadable` knows */
async function readContents(
  file: string,
  place: Entry["place"],
  head: Buffer,
  askPassphrase: AskPassphrase | undefined,
): Promise<EncodedContents | null> {
  if (typeof place === "string") return await readEncodedContents(file, head, askPassphrase);
  // SQLite and others open files by a text.
  if (!isEncoded(head)) return null;
  throw new UnreadableContentError("name", "its name is not UTF-8; rename it to have its contents decoded");
}

/** The bytes of a file; then, of SQLite, the values on several pages. @param onPiece receives the bytes of the file */
async function* readPieces(file: string | Buffer, onPiece: (piece: Buffer) => void): AsyncGenerator<Buffer> {
  // A buffer is allocated for each file: it need not be larger than the file.
  const highWaterMark = Math.max(1, Math.min(statSync(file).size, maxPieceBytes));
  for await (const piece of createReadStream(file, { highWaterMark })) {
    onPiece(piece);
    yield piece;
  }
  yield* readLongValues(file);
}

/** The first encoding that was found of each secret. */
function onePerSecret({
  found,
  escaped,
}: SecretMatches<EncodedSecret>): Pick<FoundSecret, "label" | "form">[] {
  const forms = new Map<string, SecretForm>();
  for (const encoding of found) {
    const { label } = encoding.secret;
    if (!forms.has(label)) forms.set(label, escaped.has(encoding) ? "escaped" : encoding.form);
  }
  return [...forms].map(([label, form]) => ({ label, form }));
}

export interface SecretMatches<Encoding> {
  readonly found: ReadonlySet<Encoding>;
  /** Those that were found only in escapes, or across line ends. */
  readonly escaped: ReadonlySet<Encoding>;
}

/** `\\u0041` for each character, which may be the first of a line. */
const bytesPerEscape = 12;

/**
 * Finds which encodings occur in a sequence of bytes, also across its pieces, in escapes of JSON and URLs, and in base64 with line
 * ends. The caller may reuse the memory of a piece after `add` returns.
 */
export function startSearch<Encoding extends SecretEncoding>(
  encodings: readonly Encoding[],
): SecretMatches<Encoding> & { add(piece: Buffer): void } {
  const found = new Set<Encoding>();
  const escaped = new Set<Encoding>();
  const inLines = encodings.filter(isInLines);
  const overlapBytes = bytesPerEscape * Math.max(0, ...encodings.map(({ bytes }) => bytes.length));
  let tail = Buffer.alloc(0);
  const searchIn = (bytes: Buffer, sought: readonly Encoding[], isEscaped: boolean) => {
    for (const encoding of sought) {
      if (found.has(encoding) || !bytes.includes(encoding.bytes)) continue;
      found.add(encoding);
      if (isEscaped) escaped.add(encoding);
    }
  };
  return {
    found,
    escaped,
    add(piece) {
      const bytes = tail.length === 0 ? piece : Buffer.concat([tail, piece]);
      for (const reading of readingsOf(bytes)) {
        const sought = reading.is === "without line ends" ? inLines : encodings;
        searchIn(reading.bytes, sought, reading.is !== "as it is");
      }
      tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlapBytes)));
    },
  };
}
