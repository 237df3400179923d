/**
 * Changes of the key that signs a published folder: the key so far signs the next one, from a number on. So those who trust
 * the first key can trust the last.
 */
import { sign } from "node:crypto";
import { z } from "zod";
import { signatureShape, verifyText } from "./signature.ts";
import { fingerprintOf, type SigningKey } from "./signing-key.ts";

/** Of one folder. */
export interface SignedLine {
  /** Of the service. */
  readonly baseUrl: string;
  /** The root hash of its first snapshot. */
  readonly line: string;
}

export const successionShape = z.strictObject({
  /** The first snapshot that the new key signs. */
  sequence: z.int().min(2),
  /** The new key: 32 bytes, in base64url. */
  successor: signatureShape.shape.publicKey,
  /** The key so far, and what it has signed. */
  ...signatureShape.shape,
});

export type Succession = z.infer<typeof successionShape>;

/** The signed text: five lines, in UTF-8. */
const textOf = ({ baseUrl, line }: SignedLine, sequence: number, successor: string) =>
  Buffer.from(`armoire snapshot key\n${baseUrl}\n${line}\n${sequence}\n${successor}\n`);

export function signSuccession(
  of: SignedLine,
  {
    sequence,
    successor,
    key,
  }: { readonly sequence: number; readonly successor: string; readonly key: SigningKey },
): Succession {
  const signature = sign(null, textOf(of, sequence, successor), key.privateKey).toString("base64url");
  return { sequence, successor, publicKey: key.publicKey, signature };
}

/**
 * The key that must have signed a snapshot.
 * @param trusted the fingerprint of a key that signed the folder, or signs it now
 * @returns the fingerprint of that key or, if it has signed a successor up to that number, of the last one
 */
export function keyAt(
  trusted: string,
  sequence: number,
  of: SignedLine,
  successions: readonly Succession[],
): string {
  let key = trusted;
  for (const { sequence: from, successor, publicKey, signature } of successions)
    if (
      from <= sequence &&
      fingerprintOf(publicKey) === key &&
      verifyText(textOf(of, from, successor), publicKey, signature)
    )
      key = fingerprintOf(successor);
  return key;
}
