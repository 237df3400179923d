/**
 * Follows a published folder: which of its snapshots a mirror has yet to load. Refused are states that are older than what
 * was loaded, that contradict it, or that another key has signed.
 */
import { SnapshotError } from "../../mirror/load/errors.ts";
import type { LoadedSnapshot } from "../../mirror/load/loaded-snapshots.ts";
import { BackupError } from "../errors.ts";
import { checkSignature } from "../signatures/signature.ts";
import { currentChain, keyOfSnapshot, type PublishedSnapshot, type PublishedState } from "./state.ts";

export interface FollowRequest {
  readonly state: PublishedState;
  /** What the mirror has loaded. */
  readonly loaded: readonly LoadedSnapshot[];
  /** The folder or its address, for messages. */
  readonly place: string;
  /** The address of the folder, with a slash at its end; null for one on this computer. */
  readonly address: string | null;
  /** A digest of where the folder is. */
  readonly folder: string;
  /**
   * The fingerprint of the key that must have signed it, or of one before it. Default: the key that has signed what was loaded
   * of it.
   */
  readonly key?: string;
  /** Also those before the last whole one, as far as they come after all that is loaded. Default: false. */
  readonly withHistory?: boolean;
}

/**
 * @returns those of the current chain, or with the history, that are not loaded yet, in their order
 * @throws SnapshotError `rolled-back`, `other-line`, `condemned`; BackupError `damaged` for signatures
 */
export function chooseUnloaded(request: FollowRequest): readonly PublishedSnapshot[] {
  const { state, loaded, place } = request;
  const ofLine = loaded.filter(({ line }) => line === state.line);
  requireSameLine(request, ofLine);
  const chain = request.withHistory ? unloadedHistory(state, ofLine) : currentChain(state);
  requireSigned(chain, request, ofLine);
  const known = new Map(loaded.map((snapshot) => [snapshot.rootHash, snapshot]));
  return chain.filter(({ rootHash }) => {
    const { condemnedBy = null, isComplete = false } = known.get(rootHash) ?? {};
    if (condemnedBy === null) return !isComplete;
    throw new SnapshotError(
      "condemned",
      `The service has contradicted a snapshot of this folder at ${condemnedBy}: ${place}`,
      "Load another one.",
    );
  });
}

/** A state before what is loaded could be shown no more. */
function unloadedHistory(
  { snapshots }: PublishedState,
  loaded: readonly LoadedSnapshot[],
): readonly PublishedSnapshot[] {
  const last = Math.max(0, ...loaded.map(({ sequence, isComplete }) => (isComplete ? (sequence ?? 0) : 0)));
  return snapshots.filter(({ sequence }) => sequence > last);
}

function requireSameLine(
  { state, loaded, place, address, folder }: FollowRequest,
  ofLine: readonly LoadedSnapshot[],
): void {
  const isFromHere = ({ source, ...known }: LoadedSnapshot) =>
    known.folder === folder || (address !== null && folderOf(source) === address);
  const isOther = (known: LoadedSnapshot) =>
    known.line !== null && known.line !== state.line && isFromHere(known);
  if (loaded.some(isOther))
    throw new SnapshotError(
      "other-line",
      `Another line of snapshots was loaded from this ${address === null ? "folder" : "address"} before: ${place}`,
      "Nothing was loaded. Ask the publisher, or load it into a new mirror with --mirror FILE.",
    );
  const published = new Map(state.snapshots.map(({ sequence, rootHash }) => [sequence, rootHash]));
  const last = state.snapshots.at(-1)?.sequence ?? 0;
  for (const { sequence, rootHash } of ofLine) {
    if (sequence === null) continue;
    if (sequence > last)
      throw new SnapshotError(
        "rolled-back",
        `The folder ends with snapshot ${last}, and snapshot ${sequence} of it was loaded before: ${place}`,
        "Nothing was loaded. Try again later, or ask its publisher.",
      );
    if ((published.get(sequence) ?? rootHash) !== rootHash)
      throw new SnapshotError(
        "other-line",
        `The folder's snapshot ${sequence} is not the one that was loaded before: ${place}`,
        "Nothing was loaded. Ask the publisher, or load it into a new mirror with --mirror FILE.",
      );
  }
}

const folderOf = (address: string) => address.slice(0, address.lastIndexOf("/") + 1);

/** Before anything is downloaded. */
function requireSigned(
  chain: readonly PublishedSnapshot[],
  { state, key, place }: FollowRequest,
  ofLine: readonly LoadedSnapshot[],
): void {
  /** A folder may be signed from some number on. The last key counts: those before it may be known to others by now. */
  const keyOf = (number: number) =>
    ofLine
      .filter(({ sequence, signedBy }) => signedBy !== null && (sequence ?? 0) <= number)
      .sort((a, b) => (b.sequence ?? 0) - (a.sequence ?? 0))[0]?.signedBy;
  const { baseUrl } = state.service;
  for (const { sequence, rootHash, signature, file } of chain) {
    const trusted = key ?? keyOf(sequence) ?? undefined;
    const expected = trusted && keyOfSnapshot(state, sequence, trusted);
    const { problem } = checkSignature({ baseUrl, sequence, rootHash }, signature, expected);
    if (problem === null) continue;
    throw new BackupError(
      "damaged",
      `The folder's ${file} is refused, because ${problem}: ${place}`,
      "Nothing was loaded. Compare the fingerprint with the one that the publisher states.",
    );
  }
}
