/** Backups that only a passphrase opens, in the format of age (age-encryption.org/v1): any other age reads them as well. */
import { isSystemError } from "../../platform/errors.ts";
import { BackupError } from "../errors.ts";
import { ZipError } from "./zip-reader.ts";

const beginning = Buffer.from("age-encryption.org/v1\n");

/** Bytes that are enough for `isEncrypted`. */
export const beginningBytes = beginning.length;

export const isEncrypted = (head: Buffer): boolean => head.subarray(0, beginningBytes).equals(beginning);

/** The same content gives other bytes each time. */
export async function* encrypted(
  chunks: Iterable<Uint8Array>,
  passphrase: string,
): AsyncGenerator<Uint8Array> {
  const { Encrypter } = await loadAge();
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  yield* await encrypter.encrypt(streamOf(chunks));
}

/** @throws BackupError `wrong-passphrase`; ZipError where the content is not what was encrypted */
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
    throw new ZipError(null, "what is encrypted is damaged, or does not end where it did", { cause });
  }
}

// It takes longer to load than most commands take altogether, and most backups are not encrypted.
const loadAge = () => import("age-encryption");

/** Node's own `ReadableStream.from` reads ahead no further than it is asked to. */
function streamOf(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks);
}

function wrongPassphrase(cause: unknown): BackupError {
  return new BackupError(
    "wrong-passphrase",
    "The backup does not open with this passphrase, or its beginning is damaged",
    "Try the passphrase again; if it is right, take another copy of the file.",
    { cause },
  );
}
