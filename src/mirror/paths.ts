/** Where mirrors lie in a data directory: a folder a service, whose name a person can read and no service can choose. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

const catalogueFile = "catalogue.sqlite";

/** @param baseUrl an absolute URL */
export function catalogueMirrorFile(dataDir: string, baseUrl: string): string {
  const { href, hostname } = new URL(baseUrl);
  const readable = hostname
    .replace(/[^a-z0-9.-]/g, "_")
    .replace(/^\.+/, "")
    .slice(0, 60);
  return join(
    dataDir,
    `${readable}-${createHash("sha256").update(href).digest("hex").slice(0, 8)}`,
    catalogueFile,
  );
}

/** The catalogue mirrors in a data directory, in the order of their names. */
export function listCatalogueMirrors(dataDir: string): string[] {
  if (!existsSync(dataDir)) return [];
  return readdirSync(dataDir)
    .sort()
    .map((folder) => join(dataDir, folder, catalogueFile))
    .filter((file) => existsSync(file));
}
