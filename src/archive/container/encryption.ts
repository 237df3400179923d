/** Encryption with a passphrase, in the format of age (age-encryption.org/v1), which every age program reads. */
import { isSystemError } from "../../platform/errors.ts";
import { BackupError } from "../errors.ts";
import { ZipError } from "./zip-reader.ts";

const header = Buffer.from("age-encryption.org/v1\n");

/** The number of bytes that `isEncrypted` needs. */
export const ageHeaderBytes = header.length;

/** Whether a file with this beginning is in the format of age. */
export const isEncrypted = (head: Buffer): boolean => head.subarray(0, ageHeaderBytes).equals(header);

/** Shorter ones are found by trying them all, since everybody who has the file can try. */
const minPassphraseLength = 8;

/** Only for new backups: others are opened with any passphrase. @throws BackupError `weak-passphrase` */
export function requireStrongPassphrase(passphrase: string): void {
  if ([...passphrase].length >= minPassphraseLength) return;
  throw new BackupError(
    "weak-passphrase",
    passphrase === ""
      ? "The passphrase is empty."
      : `The passphrase has fewer than ${minPassphraseLength} characters, so others could find it. Nothing was written.`,
    "Use six random words, or let a password manager make one.",
  );
}

/** The same content gives other bytes each time. */
export async function* encrypted(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Uint8Array> {
  const { Encrypter } = await loadAge();
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  yield* await encrypter.encrypt(streamOf(chunks));
}

/** A header for one passphrase has about 150. */
const maxHeaderBytes = 16_384;
/** What age's programs write, and Armoire. Each further step doubles the time and the memory, which is 256 MB for 18. */
const maxWorkFactor = 18;

/** age-encryption has no limit for a header's length, and a higher one for the work that it asks for. */
async function* withCheckedHeader(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const text = head.subarray(0, maxHeaderBytes).toString("latin1");
    const end = text.indexOf("\n--- ");
    if (end < 0 && head.length < maxHeaderBytes) continue;
    requireOpenable(text, end);
    yield head;
    head = null;
  }
  if (head !== null) yield head;
}

function requireOpenable(text: string, end: number): void {
  if (end < 0) throw new Error(`the header has more than ${maxHeaderBytes} bytes`);
  const workFactor = /^-> scrypt \S+ (\d+)$/m.exec(text.slice(0, end))?.[1];
  if (Number(workFactor ?? 0) > maxWorkFactor)
    throw new Error(`opening it takes more work than 2^${maxWorkFactor}`);
}

/** @throws BackupError `wrong-passphrase`, also for a header that takes too much work; ZipError if the content is not what was encrypted */
export async function* decrypted(
  chunks: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Uint8Array> {
  const { Decrypter } = await loadAge();
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const content = await decrypter.decrypt(streamOf(withCheckedHeader(chunks))).catch((cause) => {
    throw isSystemError(cause) ? cause : wrongPassphrase(cause);
  });
  try {
    yield* content;
  } catch (cause) {
    if (isSystemError(cause)) throw cause;
    throw new ZipError(null, "the encrypted content is damaged or cut off", { cause });
  }
}

// Loading it takes longer than most commands, and most backups are not encrypted.
const loadAge = () => import("age-encryption");

/** Node's `ReadableStream.from` reads no further ahead than its consumer. */
function streamOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks);
}

function wrongPassphrase(cause: unknown): BackupError {
  return new BackupError(
    "wrong-passphrase",
    "The passphrase does not open the backup, or the backup's header is damaged",
    "Try the passphrase again; if it is right, take another copy of the file.",
    { cause },
  );
}
