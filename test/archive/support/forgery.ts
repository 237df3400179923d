/** Takes a sound backup apart, to forge another one with matching checksums. */
import { createHash } from "node:crypto";
import { blockEntries } from "../../../src/archive/container/body-blocks.ts";
import { byteReader, readEntries } from "../../../src/archive/container/zip-reader.ts";
import type { ForgedEntry } from "./forge-zip.ts";

export async function takeApart(bytes: Buffer): Promise<ForgedEntry[]> {
  const entries: ForgedEntry[] = [];
  for await (const { name, content } of readEntries(byteReader([bytes]))) entries.push({ name, content });
  return entries;
}

/** The entries with other bodies in their only block; everything that names the SHA-256 of a body names that of the other. */
export function withBodies(entries: readonly ForgedEntry[], change: (body: string) => string): ForgedEntry[] {
  const contentOf = (name: string) =>
    entries.find((entry) => entry.name === name)?.content ?? Buffer.alloc(0);
  const block = contentOf("revisions/00001.json");
  const lines = contentOf("revisions/00001-index.ndjson").toString().trimEnd().split("\n");
  const bodies = lines.map((line) => {
    const { sha256, offset, length } = JSON.parse(line);
    const body = Buffer.from(change(block.subarray(offset, offset + length).toString()));
    return { was: sha256, sha256: createHash("sha256").update(body).digest("hex"), body };
  });
  const blocks = new Map([...blockEntries("revisions", bodies)].map(({ name, content }) => [name, content]));
  return entries.map((entry) => {
    const text = bodies.reduce(
      (all, { was, sha256 }) => all.replaceAll(was, sha256),
      entry.content.toString("latin1"),
    );
    return { ...entry, content: blocks.get(entry.name) ?? Buffer.from(text, "latin1") };
  });
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
