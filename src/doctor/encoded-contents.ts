/**
 * Contents that a search of a file's plain bytes misses: the compressed bodies of a mirror, the entries of an archive, and files
 * in gzip, Zstandard or Parquet, as exports have them. Other compressed files are reported as unreadable.
 */
import { createReadStream, statSync } from "node:fs";
import { pipeline } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from "node:zlib";
import { isEncrypted } from "../archive/container/encryption.ts";
import { type AskPassphrase, openBackup } from "../archive/container/open.ts";
import { byteReader, readEntries, ZipError } from "../archive/container/zip-reader.ts";
import { manifestEntry } from "../archive/contents/entry-names.ts";
import { BackupError } from "../archive/errors.ts";
import { countFreePages, readBodies } from "../mirror/bodies/read-body.ts";
import { MirrorError, toMirrorError } from "../mirror/file/errors.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/reader.ts";

export interface EncodedContents {
  /** `body`: responses of the service in a mirror. `archive`: the entries of an archive. `file`: the decompressed file or pages. */
  readonly in: "body" | "archive" | "file";
  /** Throws after the last readable piece if the rest cannot be read; `explainUnreadable` knows these errors. */
  readonly pieces: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** How many of a file's first bytes identify its format. */
export const headBytes = 32;

/** File signatures in hexadecimal. */
const hexOf = (text: string) => Buffer.from(text).toString("hex");
const signatures = { sqlite: hexOf("SQLite format 3\0"), zip: "504b0304", parquet: hexOf("PAR1") };
const decompressors = { "1f8b": createGunzip, "28b52ffd": createZstdDecompress };
const foreignFormats = {
  fd377a585a00: "xz",
  "425a68": "bzip2",
  "377abcaf271c": "7-Zip",
  [hexOf("PARE")]: "encrypted Parquet",
  "52617221": "RAR",
  "504b0506": "ZIP",
  "504b0708": "ZIP",
  "04224d18": "LZ4",
  "1f9d": "compress",
  [hexOf("LZIP")]: "lzip",
  "5d000080": "LZMA",
  "5d000000": "LZMA",
  "7801": "zlib",
  "789c": "zlib",
  "78da": "zlib",
  [hexOf("%PDF-")]: "PDF",
  [hexOf("MSCF")]: "Cabinet",
  [hexOf("!<arch>")]: "ar",
  edabeedb: "RPM",
  [hexOf("hsqs")]: "SquashFS",
  [hexOf("Obj\u0001")]: "Avro",
  [hexOf("ARROW1")]: "Arrow",
  "894844460d0a1a0a": "HDF5",
  [hexOf("-----BEGIN PGP MESSAGE")]: "OpenPGP",
  [hexOf("-----BEGIN AGE ENCRYPTED FILE")]: "age",
  [hexOf("Salted__")]: "encrypted OpenSSL",
  [hexOf("U2FsdGVkX1")]: "encrypted OpenSSL",
  "4c554b53babe": "LUKS",
  // Frames that decompressors skip, before those with the contents.
  ...Object.fromEntries(Array.from("0123456789abcdef", (n) => [`5${n}2a4d18`, "Zstandard or LZ4"])),
};

/**
 * The first packet of an OpenPGP message that is encrypted or compressed: its type, with a length in the old or the new form,
 * and its version or algorithm (RFC 9580, sections 4.2, 5.1, 5.3 and 5.6).
 */
const openPgp = [
  /^(?:84..|85.{4}|86.{8}|c1(?:[0-9ab].|[cd].{3}|ff.{8}))0[36]/,
  /^(?:8c..|8d.{4}|c3(?:[0-9ab].|[cd].{3}|ff.{8}))0[456]/,
  /^(?:a0..|a1.{4}|a2.{8}|a3|c8(?:[0-9abef].|[cd].{3}|ff.{8}))0[0-3]/,
];

/** @returns the name of a format that is not decoded; undefined for any other */
function foreignFormatOf(head: Buffer): string | undefined {
  const hex = head.toString("hex");
  const [, format] = Object.entries(foreignFormats).find(([signature]) => hex.startsWith(signature)) ?? [];
  return format ?? (openPgp.some((packet) => packet.test(hex)) ? "OpenPGP" : undefined);
}

/** Whether a file has contents that a search of its plain bytes misses. */
export const isEncoded = (head: Buffer): boolean =>
  isEncrypted(head) ||
  foreignFormatOf(head) !== undefined ||
  [...Object.values(signatures), ...Object.keys(decompressors)].some((signature) =>
    head.toString("hex").startsWith(signature),
  );

/**
 * @returns null if the plain bytes of the file are all of its contents
 * @throws an error that `explainUnreadable` knows, if they are in a format that is not decoded
 */
export async function readEncodedContents(
  file: string,
  head: Buffer,
  askPassphrase?: AskPassphrase,
): Promise<EncodedContents | null> {
  const startsWith = (signature: string) => head.toString("hex").startsWith(signature);
  if (startsWith(signatures.sqlite)) return { in: "body", pieces: readMirrorBodies(file) };
  if (isEncrypted(head)) return { in: "archive", pieces: decryptArchive(file, askPassphrase) };
  if (startsWith(signatures.parquet)) return { in: "file", pieces: readPages(file) };
  if (startsWith(signatures.zip)) {
    await requireOwnArchive(file);
    return { in: "archive", pieces: readArchive(createReadStream(file)) };
  }
  for (const [signature, create] of Object.entries(decompressors))
    if (startsWith(signature)) return { in: "file", pieces: requirePlain(decompress(file, create())) };
  const format = foreignFormatOf(head);
  if (format === undefined) return null;
  throw new UnreadableContentError("format", `it is in a compressed or encrypted format, ${format}`);
}

/**
 * `format`: a format that is not decoded. `free-pages`: a mirror may hold remains of deleted bodies. `name`: a file cannot be opened
 * by its name. `link`: it leads out of the searched folders. `special`: no regular file.
 */
export type UnreadableReason =
  | "encrypted"
  | "damaged"
  | "format"
  | "free-pages"
  | "name"
  | "link"
  | "special";

export interface Unreadable {
  readonly reason: UnreadableReason;
  /** For people: "it is damaged". */
  readonly why: string;
}

export class UnreadableContentError extends Error {
  override readonly name = "UnreadableContentError";
  readonly reason: UnreadableReason;
  constructor(reason: UnreadableReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Why part of a file could not be read. Null for any other error. */
export function explainUnreadable(error: unknown): Unreadable | null {
  if (error instanceof UnreadableContentError) return { reason: error.reason, why: error.message };
  if (error instanceof MirrorError && error.code !== "damaged")
    return { reason: "format", why: error.problem };
  if (error instanceof MirrorError || error instanceof ZipError)
    return { reason: "damaged", why: "it is damaged" };
  if (!(error instanceof BackupError)) return null;
  const why = passphraseProblems[error.code];
  return why === undefined ? null : { reason: "encrypted", why };
}

const passphraseProblems: Partial<Record<BackupError["code"], string>> = {
  "needs-passphrase": "it is encrypted, and no passphrase was given (--passphrase-file)",
  "wrong-passphrase": "it is encrypted with another passphrase",
};

/** The bodies as sent. None for a database that is not a mirror. */
function* readMirrorBodies(file: string): Generator<Buffer> {
  let mirror: MirrorReader;
  try {
    mirror = openMirrorReader(file);
  } catch (error) {
    if (error instanceof MirrorError && error.code === "not-a-mirror") return;
    throw error;
  }
  try {
    yield* readBodies(mirror.db);
    const freePages = countFreePages(mirror.db);
    if (freePages === 0) return;
    throw new UnreadableContentError(
      "free-pages",
      `it has ${freePages} free pages, which may hold deleted compressed bodies; \`armoire mirror compact\` removes them`,
    );
  } catch (error) {
    throw toMirrorError(error, file);
  } finally {
    mirror.close();
  }
}

/** A file of a few kilobytes may decompress to terabytes. */
const maxGrowth = 1000;

/** What Node's compression writes at the end of several chunks. */
const emptyFrame = Buffer.from("28b52ffd2000010000", "hex");

async function* decompress(file: string, decompressor: Gunzip | ZstdDecompress): AsyncGenerator<Buffer> {
  const { size } = statSync(file);
  // The iteration throws the errors of both streams.
  pipeline(createReadStream(file), decompressor, () => {});
  let length = 0;
  try {
    for await (const piece of decompressor) {
      length += piece.length;
      if (length > maxGrowth * size)
        throw new UnreadableContentError(
          "format",
          `it decompresses to more than ${maxGrowth} times its size`,
        );
      yield piece;
    }
    // Node may end at the first frame of Zstandard, and at a NUL after a member of gzip.
    const start = decompressor.bytesWritten;
    const rest = await buffer(createReadStream(file, { start, end: start + emptyFrame.length }));
    if (rest.length > 0 && !rest.equals(emptyFrame))
      throw new UnreadableContentError("format", "more follows after the end of its first part");
  } catch (error) {
    if (!/^(Z|ZSTD)_/.test(codeOf(error))) throw error;
    throw new UnreadableContentError("damaged", "it is damaged");
  }
}

/** Also texts that a page holds in parts. */
async function* readPages(file: string): AsyncGenerator<Buffer> {
  // Loaded only here: few searched files are of this format.
  const { ParquetError, readParquetContents } = await import("../../exports/formats/parquet/contents.ts");
  const problems = {
    damaged: "it is damaged",
    codec: "its pages are in a compressed format that is not read",
    "too-large": `it decompresses to more than ${maxGrowth} times its size`,
  } as const;
  try {
    yield* readParquetContents(file, maxGrowth * statSync(file).size);
  } catch (error) {
    if (!(error instanceof ParquetError)) throw error;
    const { code } = error;
    throw new UnreadableContentError(code === "damaged" ? code : "format", problems[code]);
  }
}

const codeOf = (error: unknown) => (error instanceof Error && "code" in error ? String(error.code) : "");

async function* decryptArchive(file: string, askPassphrase?: AskPassphrase): AsyncGenerator<Buffer> {
  const { chunks } = await openBackup(file, askPassphrase);
  yield* readArchive(chunks());
}

/** The contents of a ZIP file's entries; the bytes themselves of any other file. */
async function* readArchive(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done) return;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  }
  if (bufferOf(first.value).toString("hex", 0, 4) === signatures.zip)
    for await (const { content } of readEntries(byteReader(all()))) yield content;
  else for await (const piece of requirePlain(all())) yield bufferOf(piece);
}

/** Contents are decoded once: throws after the last piece if they begin as another encoded file does. */
async function* requirePlain<Piece extends Uint8Array>(pieces: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  let head = Buffer.alloc(0);
  for await (const piece of pieces) {
    if (head.length < headBytes) head = Buffer.concat([head, piece.subarray(0, headBytes - head.length)]);
    yield piece;
  }
  if (isEncoded(head)) throw new UnreadableContentError("format", "its contents are encoded once more");
}

const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

/** An archive of Armoire begins with its manifest. Other ZIP files may be of any form. */
async function requireOwnArchive(file: string): Promise<void> {
  const stream = createReadStream(file);
  try {
    const first = await readEntries(byteReader(stream)).next();
    if (!first.done && first.value.name === manifestEntry) return;
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
  } finally {
    stream.destroy();
  }
  throw new UnreadableContentError("format", "it is a ZIP file that is damaged or not made by Armoire");
}
