/** Loads the snapshots that the user gave as files or addresses. What is downloaded is verified, shown and removed again. */
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { kinds } from "../../../jobs/kinds.ts";
import { maxSignatureBytes, signatureFileOf } from "../../archive/signatures/signature.ts";
import { type OpenSnapshot, openSnapshot } from "../../archive/snapshot/open.ts";
import { catalogueMirrorFile } from "../../mirror/file/paths.ts";
import { type LoadReport, loadSnapshots } from "../../mirror/load/load-snapshot.ts";
import { makeFolders } from "../../platform/folders.ts";
import { formatDownloadProgress, formatLoadProgress, formatOpened } from "../format/mirror/loaded.ts";
import { givenServiceName, type Settings } from "../settings/settings.ts";
import type { Io } from "../terminal/io.ts";
import { progressDisplay } from "../terminal/progress-display.ts";

export interface GivenSnapshots {
  /** Files, or addresses of files. */
  readonly places: readonly string[];
  /** The expected root hash of each; empty for none. */
  readonly rootHashes?: readonly string[];
  /** The fingerprint of the key that must have signed all of them. */
  readonly key?: string;
  /** Whether an address may be in a private network. */
  readonly allowPrivate: boolean;
  readonly sampleSize?: number;
  readonly signal: AbortSignal;
}

/** More than a catalogue of many times the usual size. */
const maxDownloadBytes = 2 * 2 ** 30;

/** @throws BackupError, SnapshotError, DownloadError, MirrorError; the signal's reason */
export async function loadGiven(given: GivenSnapshots, settings: Settings, io: Io): Promise<LoadReport> {
  const { places, rootHashes = [], key, sampleSize, signal } = given;
  const downloaded: string[] = [];
  try {
    const sources: OpenSnapshot[] = [];
    for (const [n, place] of places.entries()) {
      const isAddress = /^https?:\/\//i.test(place);
      const file = isAddress ? await downloadTo(place, given, settings, io) : resolve(place);
      if (isAddress) downloaded.push(file, signatureFileOf(file));
      const rootHash = rootHashes[n];
      const expected = { ...(rootHash !== undefined && { rootHash }), ...(key !== undefined && { key }) };
      const opened = await openSnapshot(file, expected);
      const source = isAddress ? await nameOf(place) : basename(file);
      sources.push({ ...opened, description: { ...opened.description, source } });
      if (!settings.quiet) io.err(formatOpened(sources.at(-1) ?? opened));
      signal.throwIfAborted();
    }
    const display = progressDisplay(io, performance.now.bind(performance), formatLoadProgress);
    return await loadSnapshots({
      file: mirrorFileToLoad(settings, sources),
      ...{ sources, kinds, signal },
      expected: expectedService(settings),
      ...(sampleSize !== undefined && { sampleSize }),
      now: Date.now,
      onProgress: settings.quiet ? () => {} : (progress) => display.update(() => progress),
    }).finally(display.end);
  } finally {
    for (const file of downloaded) rmSync(file, { force: true });
  }
}

async function nameOf(url: string): Promise<string> {
  const { shownAddress } = await import("../../service/downloads/download.ts");
  return shownAddress(url);
}

async function downloadTo(
  url: string,
  { allowPrivate, key, signal }: GivenSnapshots,
  settings: Settings,
  io: Io,
): Promise<string> {
  // Loaded only now: files need no HTTP client.
  const { download, isMissing } = await import("../../service/downloads/download.ts");
  const folder = join(settings.dataDir.value, "downloads");
  makeFolders(folder);
  const to = join(folder, `${createHash("sha256").update(url).digest("hex").slice(0, 16)}.zip`);
  const display = progressDisplay(io, performance.now.bind(performance), formatDownloadProgress);
  const onProgress: Parameters<typeof download>[0]["onProgress"] = (progress) =>
    display.update(() => progress);
  await download({
    ...{ url, to, allowPrivate, signal },
    maxBytes: maxDownloadBytes,
    ...(!settings.quiet && { onProgress }),
  }).finally(display.end);
  if (key !== undefined) {
    const signature = new URL(url);
    signature.pathname = signatureFileOf(signature.pathname);
    const request = { url: signature.href, to: signatureFileOf(to), maxBytes: maxSignatureBytes };
    await download({ ...request, allowPrivate, signal }).catch((error) => {
      if (!isMissing(error)) throw error;
    });
  }
  return to;
}

/** The named mirror, or that of the service. */
function mirrorFileToLoad({ mirror, baseUrl, dataDir }: Settings, [first]: readonly OpenSnapshot[]): string {
  const url = baseUrl.value ?? first?.description.baseUrl ?? "";
  return mirror.value ?? catalogueMirrorFile(dataDir.value, url);
}

/** What the settings say about the service. */
function expectedService(settings: Settings): { baseUrl?: string; serviceName?: string } {
  const { value } = settings.baseUrl;
  return { ...(value !== null && { baseUrl: value }), ...givenServiceName(settings) };
}
