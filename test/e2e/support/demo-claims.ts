/** The claims of the demo about the mirror and its export, compared with the contents of the sandbox. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type MirrorStatus, verifyDataPackage } from "../../../src/index.ts";
import type { Story } from "./demo-story.ts";
import type { Program } from "./program.ts";
import type { Truth } from "./sandbox-truth.ts";

const exportedKinds = ["brand", "model", "size"];

export async function claimAllIsHeld(story: Story, armoire: Program, truth: Truth): Promise<void> {
  const { kinds } = await armoire.readJson<MirrorStatus>("status");
  const heldByKind = kinds.filter(({ held }) => held > 0).map(({ kind, held }) => [kind, held]);
  story.claim(
    `The mirror holds all ${truth.size} resources.`,
    Object.fromEntries(heldByKind),
    truth.countByKind,
  );
}

export async function claimAllIsExported(story: Story, folder: string, truth: Truth): Promise<void> {
  const { contents, problems } = await verifyDataPackage(folder);
  story.claim("Every file matches datapackage.json, byte for byte.", problems, []);
  const expected = exportedKinds.map((kind) => truth.countByKind[kind]);
  const rowsListed = exportedKinds.map(
    (kind) => contents.files.find(({ path }) => path === `${kind}.csv`)?.rows,
  );
  const rowsRead = await Promise.all(exportedKinds.map((kind) => countRows(join(folder, `${kind}.json`))));
  story.claim(
    "No brand, model or size is missing.",
    { rowsListed, rowsRead },
    { rowsListed: expected, rowsRead: expected },
  );
}

async function countRows(file: string): Promise<number> {
  const rows: unknown[] = JSON.parse(await readFile(file, "utf8"));
  return rows.length;
}
