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

/** @throws BackupError `wrong-passphrase`; ZipError if the content is not what was encrypted */
export async function* decrypted(
  chunks: AsyncIterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Uint8Array> {
  const { Decrypter } = await loadAge();
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const content = await decrypter.decrypt(streamOf(chunks)).catch((cause) => {
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
