/**
 * Where mirrors are stored in a data directory: one folder per service, with a readable name that no service can
 * choose.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const catalogueFile = "catalogue.sqlite";

/**
 * Where the catalogue's mirror of a service is in a data directory, also if it does not exist yet.
 * @param baseUrl an absolute URL
 */
export function catalogueMirrorFile(dataDir: string, baseUrl: string): string {
  const { href, hostname } = new URL(baseUrl);
  const readable = hostname
    .replace(/[^a-z0-9.-]/g, "_")
    .replace(/^\.+/, "")
    .slice(0, 60);
  const digest = createHash("sha256").update(href).digest("hex").slice(0, 8);
  return join(dataDir, `${readable}-${digest}`, catalogueFile);
}

/** The files of all catalogue mirrors in a data directory, sorted. */
export function listCatalogueMirrors(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .sort()
    .map((folder) => join(dataDir, folder, catalogueFile))
    .filter((file) => existsSync(file));
}
