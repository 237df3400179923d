/**
 * Signatures of snapshots, which show who published them. A signature covers the service, the number in a published folder,
 * and the root hash, so it is of one snapshot in one place.
 */
import { sign, verify } from "node:crypto";
import { z } from "zod";
import { fileMode, writeTemporary } from "../../platform/atomic-file.ts";
import { hasCode } from "../../platform/errors.ts";
import { readRegularFile } from "../../platform/files/regular-files.ts";
import { fingerprintOf, type SigningKey, toPublicKey } from "./signing-key.ts";

export interface SignedStatement {
  /** Of the service. */
  readonly baseUrl: string;
  /** The snapshot's number in a published folder; null for a file of its own. */
  readonly sequence: number | null;
  readonly rootHash: string;
}

const base64url = (bytes: number) =>
  z
    .base64url()
    .refine((text) => Buffer.from(text, "base64url").byteLength === bytes)
    .refine((text) => Buffer.from(text, "base64url").toString("base64url") === text);

export const signatureShape = z.strictObject({
  publicKey: base64url(32),
  signature: base64url(64),
});

export type Signature = z.infer<typeof signatureShape>;

/** The signed text: four lines, in UTF-8. */
const textOf = ({ baseUrl, sequence, rootHash }: SignedStatement) =>
  Buffer.from(`armoire snapshot\n${baseUrl}\n${sequence ?? "-"}\n${rootHash}\n`);

export function signStatement(statement: SignedStatement, key: SigningKey): Signature {
  const signature = sign(null, textOf(statement), key.privateKey).toString("base64url");
  return { publicKey: key.publicKey, signature };
}

export interface CheckedSignature {
  /** The fingerprint of the key; null if there is no valid signature. */
  readonly signedBy: string | null;
  readonly problem: string | null;
}

/** @param expectedKey its fingerprint; without it, an unsigned snapshot is no problem */
export function checkSignature(
  statement: SignedStatement,
  signature: Signature | null,
  expectedKey: string | undefined,
): CheckedSignature {
  const refuse = (problem: string) => ({ signedBy: null, problem });
  if (signature === null)
    return { signedBy: null, problem: expectedKey === undefined ? null : "it is not signed" };
  if (!isValid(statement, signature)) return refuse("its signature is not of this snapshot");
  const signedBy = fingerprintOf(signature.publicKey);
  if (expectedKey === undefined || signedBy === expectedKey) return { signedBy, problem: null };
  return refuse(`it is signed with another key: ${signedBy}`);
}

function isValid(statement: SignedStatement, { publicKey, signature }: Signature): boolean {
  return verifyText(textOf(statement), publicKey, signature);
}

export function verifyText(text: Buffer, publicKey: string, signature: string): boolean {
  try {
    return verify(null, text, toPublicKey(publicKey), Buffer.from(signature, "base64url"));
  } catch {
    // Not every 32 bytes are a key.
    return false;
  }
}

/** The file beside a snapshot that holds its signature. */
export const signatureFileOf = (file: string): string => `${file}.sig`;

/** A file has some 200 bytes. */
export const maxSignatureBytes = 4096;

const signatureFile = signatureShape.extend({
  format: z.literal("armoire-signature"),
  formatVersion: z.literal(1),
});

/** @throws a system error; the signal's reason */
export async function writeSignatureFile(file: string, signature: Signature): Promise<void> {
  const text = JSON.stringify({ format: "armoire-signature", formatVersion: 1, ...signature }, null, 2);
  const mode = fileMode();
  (await writeTemporary(signatureFileOf(file), [`${text}\n`], { mode })).commit();
}

/** @returns null if there is none, "damaged" if it cannot be read as one */
export function readSignatureFile(file: string): Signature | "damaged" | null {
  let text: string;
  try {
    text = readRegularFile(signatureFileOf(file), maxSignatureBytes).toString();
  } catch (error) {
    return hasCode(error, "ENOENT") ? null : "damaged";
  }
  try {
    const { publicKey, signature } = signatureFile.parse(JSON.parse(text));
    return { publicKey, signature };
  } catch {
    return "damaged";
  }
}
