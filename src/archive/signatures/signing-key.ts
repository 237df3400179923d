/** Keys with which publishers sign snapshots: Ed25519, the private key in a file in PKCS #8 and PEM, for its owner only. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { writeNewFile } from "../../platform/atomic-file.ts";
import { hasCode, toFileError } from "../../platform/errors.ts";
import { requireReplaceable } from "../../platform/files/replaceable-files.ts";
import { removeFile, syncFolder } from "../../platform/folders.ts";
import { readPrivateFile } from "../../platform/private-files.ts";
import { SigningKeyError } from "../errors.ts";
import { shortWords } from "./short-words.ts";

export interface SigningKey {
  readonly privateKey: KeyObject;
  /** 32 bytes, in base64url. */
  readonly publicKey: string;
  /** Names the public key in words, for people to compare. */
  readonly fingerprint: string;
  /** Of the private key. */
  readonly file: string;
}

/**
 * Makes a private key of Ed25519 in a new file in PEM that only its owner can read.
 * @throws SigningKeyError `exists`; FileError, `not-replaceable` for a place of Armoire's own
 */
export function createSigningKey(file: string): SigningKey {
  const path = resolve(file);
  // An existing file is never replaced, whatever it is.
  if (!existsSync(path)) requireReplaceable(path);
  const { privateKey } = generateKeyPairSync("ed25519");
  try {
    writeNewFile(path, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
    try {
      syncFolder(dirname(path));
    } catch (error) {
      removeFile(path);
      throw error;
    }
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw toFileError(error, path);
    throw new SigningKeyError(
      "exists",
      `A file exists there: ${path}`,
      "Keys are never replaced. Name another file, or leave --create out to show its fingerprint.",
      { cause: error },
    );
  }
  return toSigningKey(privateKey, path);
}

/**
 * Reads a private key of Ed25519 in PEM.
 * @throws SigningKeyError `not-found`, `not-a-key`; FileError `unsafe` if others may read it
 */
export function readSigningKey(file: string): SigningKey {
  const path = resolve(file);
  const pem = readPrivateFile(path, { followsLinks: true });
  if (pem === null)
    throw new SigningKeyError(
      "not-found",
      `There is no key: ${path}`,
      "Make one: armoire snapshot key FILE --create",
    );
  return toSigningKey(parsePrivateKey(pem, path), path);
}

/** The error never contains the text, and has no cause that could. */
function parsePrivateKey(pem: string, path: string): KeyObject {
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {}
  throw new SigningKeyError(
    "not-a-key",
    `This is no private Ed25519 key in PEM, without a passphrase: ${path}`,
    "Make one: armoire snapshot key FILE --create",
  );
}

function toSigningKey(privateKey: KeyObject, file: string): SigningKey {
  const { x = "" } = createPublicKey(privateKey).export({ format: "jwk" });
  return { privateKey, publicKey: x, fingerprint: fingerprintOf(x), file };
}

/** @param publicKey 32 bytes, in base64url */
export function toPublicKey(publicKey: string): KeyObject {
  return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: publicKey }, format: "jwk" });
}

/** Together they have 124 bits. */
const fingerprintWords = 12;

/** @returns for example `acid-zoom-…`, with 12 words: those of the first bits of the SHA-256 of the public key */
export function fingerprintOf(publicKey: string): string {
  const base = BigInt(shortWords.length);
  let rest = BigInt(`0x${hash("sha256", Buffer.from(publicKey, "base64url"))}`);
  return Array.from({ length: fingerprintWords }, () => {
    const word = shortWords[Number(rest % base)] ?? "";
    rest /= base;
    return word;
  }).join("-");
}

const words: ReadonlySet<string> = new Set(shortWords);

/** As the user wrote it, with spaces or hyphens. @returns null if it has not the form of one */
export function parseFingerprint(text: string): string | null {
  const fingerprint = text.trim().toLowerCase().replace(/\s+/g, "-");
  // One of the words has a hyphen.
  const given = fingerprint
    .replaceAll("yo-yo", "yo_yo")
    .split("-")
    .map((word) => word.replace("_", "-"));
  return given.length === fingerprintWords && given.every((word) => words.has(word)) ? fingerprint : null;
}
