/**
 * What a file holds that does not stand in it as it is: the bodies of a mirror, and what is packed into an archive, which may
 * be encrypted. In: a file, and its first bytes. Out: contents unpacked, piece by piece. An archive in an archive stays closed.
 */
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { isEncrypted } from "../archive/container/encryption.ts";
import { type AskPassphrase, openBackup } from "../archive/container/open.ts";
import { zipSignatures } from "../archive/container/zip-format.ts";
import { ZipError } from "../archive/container/zip-reader.ts";
import { BackupError } from "../archive/errors.ts";
import { countFreePages, readBodies } from "../mirror/bodies/read-body.ts";
import { MirrorError, toMirrorError } from "../mirror/file/errors.ts";
import { type MirrorReader, openMirrorReader } from "../mirror/reader.ts";
import { toBytes, unzip } from "./unzip.ts";

export interface Inside {
  /** `body`: what the service sent, which a mirror keeps compressed. */
  readonly in: "body" | "archive";
  /** One content after the other. @throws what {@link whyClosed} knows, after what could be looked into; a system error */
  readonly pieces: AsyncIterable<Buffer> | Iterable<Buffer>;
}

/** Of a file's first bytes, so many tell what it is. */
export const headBytes = 32;

const zip = toBytes(zipSignatures.local).toString("hex");
const sqlite = Buffer.from("SQLite format 3\0").toString("hex");
const closedFormats = { fd377a585a00: "xz", "425a68": "bzip2", "377abcaf271c": "7-Zip", "52617221": "RAR" };

/** @returns null where a file holds nothing but what stands in it as it is */
export function lookInside(file: string, head: Buffer, askPassphrase?: AskPassphrase): Inside | null {
  const isA = (beginning: string) => head.toString("hex").startsWith(beginning);
  const archive = (pieces: AsyncIterable<Buffer>): Inside => ({ in: "archive", pieces });
  if (isA("1f8b")) return archive(pipeline(createReadStream(file), createGunzip(), ignoring));
  if (isA("28b52ffd")) return archive(pipeline(createReadStream(file), createZstdDecompress(), ignoring));
  if (isA(zip)) return archive(unzip(file));
  if (isEncrypted(head)) return archive(decrypt(file, askPassphrase));
  if (isA(sqlite)) return { in: "body", pieces: bodiesOf(file) };
  const closed = Object.entries(closedFormats).find(([beginning]) => isA(beginning));
  return closed === undefined ? null : archive(closedArchive(closed[1]));
}

/** Why there is something in a file that could not be looked into. */
export interface WhyClosed {
  readonly reason: UnreadableReason;
  /** For people. */
  readonly why: string;
}

const damaged: WhyClosed = { reason: "damaged", why: "it is damaged" };

/** Null where the error is another one. */
export function whyClosed(error: unknown): WhyClosed | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof UnreadableContentError) return { reason: error.reason, why: error.message };
  if (error instanceof MirrorError)
    return error.code === "damaged" ? damaged : { reason: "format", why: error.problem };
  if (error instanceof BackupError) {
    const why = encryptedWords[error.code];
    return why === undefined ? null : { reason: "encrypted", why };
  }
  const isDamaged = error instanceof ZipError || ("code" in error && /^Z(STD)?_/.test(String(error.code)));
  return isDamaged ? damaged : null;
}

const encryptedWords: Partial<Record<BackupError["code"], string>> = {
  "needs-passphrase": "it is encrypted, and no passphrase was given (--passphrase-file)",
  "wrong-passphrase": "it is encrypted with another passphrase",
};

/** Of a mirror, as they were sent; nothing of another file. */
function* bodiesOf(file: string): Generator<Buffer> {
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
    const what = `${freePages} free pages, in which compressed bodies may be that are gone`;
    throw new UnreadableContentError("free-pages", `it has ${what}; \`armoire mirror compact\` removes them`);
  } catch (error) {
    throw toMirrorError(error, file);
  } finally {
    mirror.close();
  }
}

async function* decrypt(file: string, askPassphrase?: AskPassphrase): AsyncGenerator<Buffer> {
  const { chunks } = await openBackup(file, askPassphrase);
  for await (const { buffer, byteOffset, byteLength } of chunks())
    yield Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

// biome-ignore lint/correctness/useYield: it has nothing to give, and says so to whoever reads it.
async function* closedArchive(format: string): AsyncGenerator<Buffer> {
  throw new UnreadableContentError("format", `it is packed with ${format}`);
}

/** Whoever reads what comes out of a pipeline gets its error. */
function ignoring(): void {}

/** What keeps something from being looked into; `format` is one that this program does not know. */
export type UnreadableReason = "encrypted" | "damaged" | "format" | "free-pages";

/** There is something in a file that cannot be looked into; its message says why. */
export class UnreadableContentError extends Error {
  override readonly name = "ClosedError";
  readonly reason: UnreadableReason;
  constructor(reason: UnreadableReason, message: string) {
    super(message);
    this.reason = reason;
  }
}
