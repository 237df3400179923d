/** Takes a sound backup apart, to forge another one with matching checksums. */
import { createHash } from "node:crypto";
import { byteReader, readEntries } from "../../../src/archive/container/zip-reader.ts";
import type { ForgedEntry } from "./forge-zip.ts";

export async function takeApart(bytes: Buffer): Promise<ForgedEntry[]> {
  const entries: ForgedEntry[] = [];
  for await (const { name, content } of readEntries(byteReader([bytes]))) entries.push({ name, content });
  return entries;
}

const sumsName = "SHA256SUMS";

/** The entries with recomputed checksums. */
export function withSums(entries: readonly ForgedEntry[]): ForgedEntry[] {
  const lines = entries
    .filter(({ name }) => name !== sumsName)
    .map(({ name, content }) => ({ name, sha256: createHash("sha256").update(content).digest("hex") }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, sha256 }) => `${sha256}  ${name}\n`);
  const sums = { name: sumsName, content: Buffer.from(lines.join(""), "latin1") };
  return entries.map((entry) => (entry.name === sumsName ? { ...entry, ...sums } : entry));
}
