/** Downloads files of snapshots to the data directory, with progress. A download that was cut is continued by the same command. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeFolders } from "../../platform/folders.ts";
import type { DownloadProgress } from "../../service/downloads/download.ts";
import { formatDownloadProgress } from "../format/mirror/loaded.ts";
import type { Settings } from "../settings/settings.ts";
import type { Io } from "../terminal/io.ts";
import { progressDisplay } from "../terminal/progress-display.ts";

export interface DownloadSettings {
  readonly allowPrivate: boolean;
  readonly signal: AbortSignal;
  readonly settings: Settings;
  readonly io: Io;
}

export interface FileToDownload {
  readonly url: string;
  readonly maxBytes: number;
  /** If it is known, a file that an interrupted command has left is used. */
  readonly rootHash?: string;
}

export const isAddress = (place: string): boolean => /^https?:\/\//i.test(place);

// The HTTP client is loaded only when it is needed: files need none.
export const loadClient = () => import("../../service/downloads/download.ts");

/** @returns the file, which the caller removes @throws DownloadError; the signal's reason; system errors */
export async function downloadFile(
  { url, maxBytes, rootHash }: FileToDownload,
  { allowPrivate, signal, settings, io }: DownloadSettings,
): Promise<string> {
  const { download } = await loadClient();
  const folder = join(settings.dataDir.value, "downloads");
  makeFolders(folder);
  const name = rootHash ?? createHash("sha256").update(url).digest("hex");
  const to = join(folder, `${name.slice(0, 16)}.zip`);
  if (rootHash !== undefined && existsSync(to)) return to;
  const display = progressDisplay(io, performance.now.bind(performance), formatDownloadProgress);
  const onProgress = (progress: DownloadProgress) => display.update(() => progress);
  await download({
    ...{ url, to, maxBytes, allowPrivate, signal },
    ...(!settings.quiet && { onProgress }),
  }).finally(display.end);
  return to;
}
