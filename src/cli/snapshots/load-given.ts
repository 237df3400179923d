/**
 * Loads the snapshots that the user gave as files, folders or addresses. Of a folder, what the mirror has not loaded yet. What
 * is downloaded is verified, shown and removed again.
 */
import { existsSync, rmSync } from "node:fs";
import { basename, resolve } from "node:path";
import { kinds } from "../../../jobs/kinds.ts";
import { BackupError } from "../../archive/errors.ts";
import { chooseUnloaded } from "../../archive/published/follow.ts";
import { maxSignatureBytes, signatureFileOf } from "../../archive/signatures/signature.ts";
import {
  asPublished,
  type OpenSnapshot,
  openSnapshot,
  type VerifySnapshotRequest,
} from "../../archive/snapshot/open.ts";
import { catalogueMirrorFile } from "../../mirror/file/paths.ts";
import { loadSnapshots } from "../../mirror/load/load-snapshot.ts";
import { readLoadedSnapshots } from "../../mirror/load/loaded-snapshots.ts";
import { readMirror } from "../../mirror/reader.ts";
import { systemClock } from "../../platform/clock.ts";
import { formatLoadProgress, formatOpened, type GivenReport } from "../format/mirror/loaded.ts";
import { requirePlaceForMirror } from "../settings/mirror-file.ts";
import { givenServiceName, type Settings } from "../settings/settings.ts";
import { CliError } from "../terminal/exit-codes.ts";
import type { Io } from "../terminal/io.ts";
import { progressDisplay } from "../terminal/progress-display.ts";
import { type DownloadSettings, downloadFile, isAddress, loadClient } from "./download-file.ts";
import { type FollowedFolder, openFolder } from "./followed-folder.ts";

export interface GivenSnapshots {
  /** Files or published folders, or their addresses. */
  readonly places: readonly string[];
  /** The expected root hash of each; empty for none. */
  readonly rootHashes?: readonly string[];
  /** The fingerprint of the key that must have signed all of them. */
  readonly key?: string;
  /** Whether an address may be in a private network. */
  readonly allowPrivate: boolean;
  readonly sampleSize?: number;
  /** Loads each snapshot in a run of its own; of a folder, all that are in it. */
  readonly withHistory?: boolean;
  readonly signal: AbortSignal;
}

/** More than a catalogue of many times the usual size. */
const maxDownloadBytes = 2 * 2 ** 30;

/** A snapshot that is to be loaded. */
interface Wanted {
  /** A file or an address. */
  readonly place: string;
  readonly expected: Omit<VerifySnapshotRequest, "file">;
  /** The published folder that it is in; null for a file that was given by name. */
  readonly folder: FollowedFolder | null;
}

/** @throws BackupError, SnapshotError, DownloadError, MirrorError, CliError, FileError; the signal's reason */
export async function loadGiven(given: GivenSnapshots, settings: Settings, io: Io): Promise<GivenReport> {
  const { allowPrivate, sampleSize, withHistory = false, signal } = given;
  const downloads = { allowPrivate, signal, settings, io };
  if (settings.mirror.value !== null) requirePlaceForMirror(settings.mirror.value, settings);
  const { wanted, mirror } = await chooseWanted(given, downloads);
  if (wanted.length === 0) return { mirror, run: null, snapshots: [], sampled: 0, seconds: 0 };
  // All downloads come first: what has arrived stays until there is all of it.
  const files: string[] = [];
  for (const one of wanted)
    files.push(isAddress(one.place) ? await downloadWanted(one, downloads) : resolve(one.place));
  try {
    const sources: OpenSnapshot[] = [];
    for (const [n, one] of wanted.entries()) {
      const source = await openWanted(files[n] ?? "", one);
      sources.push(source);
      if (!settings.quiet) io.err(formatOpened(source));
      signal.throwIfAborted();
    }
    const display = progressDisplay(io, performance.now.bind(performance), formatLoadProgress);
    return await loadSnapshots({
      file: mirrorFileToLoad(settings, sources[0]?.description.baseUrl),
      ...{ sources, kinds, signal, withHistory },
      expected: expectedService(settings),
      ...(sampleSize !== undefined && { sampleSize }),
      now: systemClock.now,
      onProgress: settings.quiet ? () => {} : (progress) => display.update(() => progress),
    }).finally(display.end);
  } finally {
    for (const [n, { place }] of wanted.entries()) {
      const file = files[n];
      if (file === undefined || !isAddress(place)) continue;
      for (const path of [file, signatureFileOf(file)]) rmSync(path, { force: true });
    }
  }
}

/** @returns also the mirror that the last folder is of */
async function chooseWanted(
  { places, rootHashes = [], key, withHistory = false }: GivenSnapshots,
  downloads: DownloadSettings,
): Promise<{ wanted: readonly Wanted[]; mirror: string }> {
  const { settings } = downloads;
  const wanted: Wanted[] = [];
  let mirror = "";
  for (const [n, place] of places.entries()) {
    const folder = await openFolder(place, downloads);
    const rootHash = rootHashes[n];
    const ofKey = key !== undefined && { key };
    if (folder === null) {
      wanted.push({ place, expected: { ...(rootHash !== undefined && { rootHash }), ...ofKey }, folder });
      continue;
    }
    if (rootHash !== undefined)
      throw new CliError(
        "usage",
        `--root-hash is of a file, and this is a folder of several: ${folder.place}`,
        "Demand the publisher's key with --key FINGERPRINT.",
      );
    mirror = mirrorFileToLoad(settings, folder.state.service.baseUrl);
    wanted.push(...wantedOf(folder, mirror, { withHistory, ...ofKey }));
  }
  return { wanted, mirror };
}

function wantedOf(
  folder: FollowedFolder,
  mirror: string,
  { withHistory, ...ofKey }: Pick<GivenSnapshots, "withHistory" | "key">,
): Wanted[] {
  const loaded = existsSync(mirror) ? readMirror(mirror, ({ db }) => readLoadedSnapshots(db)) : [];
  return chooseUnloaded({ ...folder, loaded, ...ofKey, ...(withHistory && { withHistory }) }).map(
    (snapshot) => ({
      place: folder.fileAt(snapshot.file),
      expected: { rootHash: snapshot.rootHash, published: asPublished(folder.state, snapshot), ...ofKey },
      folder,
    }),
  );
}

async function openWanted(file: string, { place, expected, folder }: Wanted): Promise<OpenSnapshot> {
  const opened = await openSnapshot(file, expected);
  const source = isAddress(place) ? (await loadClient()).shownAddress(place) : basename(file);
  if (folder === null) return { ...opened, description: { ...opened.description, source } };
  const { service, line } = folder.state;
  if (opened.description.baseUrl !== service.baseUrl)
    throw new BackupError(
      "damaged",
      `The folder is of ${service.baseUrl}, and its snapshot of ${opened.description.baseUrl}: ${source}`,
      "Nothing was loaded.",
    );
  const description = { ...opened.description, source, line, folder: folder.folder };
  return { ...opened, description };
}

async function downloadWanted(
  { place, expected, folder }: Wanted,
  downloads: DownloadSettings,
): Promise<string> {
  const { rootHash, key } = expected;
  const isPinned = folder !== null && rootHash !== undefined;
  const request = { url: place, maxBytes: maxDownloadBytes, ...(isPinned && { rootHash }) };
  const to = await downloadFile(request, downloads);
  if (key !== undefined && folder === null) {
    const { download, isMissing } = await loadClient();
    const { allowPrivate, signal } = downloads;
    const signature = new URL(place);
    signature.pathname = signatureFileOf(signature.pathname);
    const file = { url: signature.href, to: signatureFileOf(to), maxBytes: maxSignatureBytes };
    await download({ ...file, allowPrivate, signal }).catch((error) => {
      if (!isMissing(error)) throw error;
    });
  }
  return to;
}

/** The named mirror, or that of the service. */
function mirrorFileToLoad({ mirror, baseUrl, dataDir }: Settings, ofSnapshot = ""): string {
  return mirror.value ?? catalogueMirrorFile(dataDir.value, baseUrl.value ?? ofSnapshot);
}

/** What the settings say about the service. */
function expectedService(settings: Settings): { baseUrl?: string; serviceName?: string } {
  const { value } = settings.baseUrl;
  return { ...(value !== null && { baseUrl: value }), ...givenServiceName(settings) };
}
