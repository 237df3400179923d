/** The forms in which a secret may leak. Pure. */
import { trimEnd } from "../../../schema/input/trim.ts";

export interface SecretEncoding {
  readonly form: "as it is" | "URL-encoded" | "in JSON" | "base64" | "base64url" | "hexadecimal" | "UTF-16";
  readonly bytes: Buffer;
}

/** Shorter texts may occur by chance. */
export const minSpecificLength = 8;

/** Each form once, none for an empty secret; forms of the whole secret come before parts of longer base64 texts. */
export function secretEncodings(secret: string): SecretEncoding[] {
  const [encoded, hex] = [encodeURIComponent(secret.toWellFormed()), Buffer.from(secret).toString("hex")];
  const inJson = JSON.stringify(secret).slice(1, -1);
  const texts: (readonly [SecretEncoding["form"], string])[] = [
    ["as it is", secret],
    ["URL-encoded", encoded],
    ["URL-encoded", encoded.replace(/%../g, (byte) => byte.toLowerCase())],
    // As forms are encoded: a blank is a plus sign.
    ["URL-encoded", new URLSearchParams([["", secret]]).toString().slice(1)],
    ["in JSON", inJson],
    ["in JSON", inJson.replaceAll("/", "\\/")],
    ["hexadecimal", hex],
    ["hexadecimal", hex.toUpperCase()],
    ...(["base64", "base64url"] as const).flatMap((form) =>
      [Buffer.from(secret).toString(form), ...insideBase64(secret, form)].map(
        (text) => [form, text] as const,
      ),
    ),
  ];
  const encodings: SecretEncoding[] = texts.map(([form, text]) => ({ form, bytes: Buffer.from(text) }));
  const littleEndian = Buffer.from(secret, "utf16le");
  for (const bytes of [littleEndian, Buffer.from(littleEndian).swap16()])
    encodings.push({ form: "UTF-16", bytes });
  const known = new Set<string>();
  return encodings.filter(({ bytes }) => {
    const key = bytes.toString("latin1");
    return key !== "" && !known.has(key) && known.add(key);
  });
}

/** The part of its base64 form that does not depend on the bytes before and after it. */
function insideBase64(secret: string, form: "base64" | "base64url"): string[] {
  return [0, 1, 2]
    .map((before) => {
      const text = trimEnd(Buffer.from("\0".repeat(before) + secret).toString(form), "=");
      const [from, rest] = [Math.ceil((before * 4) / 3), (before + Buffer.byteLength(secret)) % 3];
      return text.slice(from, rest === 0 ? undefined : -1);
    })
    .filter((text) => text.length >= minSpecificLength);
}
