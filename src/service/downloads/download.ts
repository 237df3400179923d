/**
 * Downloads one file from an address that the user gave. In: the address, and where the file goes. Out: the whole file. A
 * download that was cut is continued by the next one. One that is too slow ends. Private networks are refused, unless the user
 * allows that of the address.
 */
import { hash } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { z } from "zod";
import type { Clock } from "../../platform/clock.ts";
import { errorClass } from "../../platform/errors.ts";
import { type IpClass, ipClassOfHost } from "../../platform/network/ip-class.ts";
import { ServiceError } from "../errors.ts";
import { defaultLimits } from "../transport/pool.ts";
import {
  type FetchedPart,
  openPartsClient,
  type PartsClient,
  type PartsClientOptions,
} from "./parts-client.ts";

export class DownloadError extends errorClass("DownloadError", {
  "invalid-address": "usage",
  refused: "failed",
  unavailable: "failed",
  "too-large": "failed",
  "keeps-changing": "failed",
}) {}

const statusOf = (error: unknown): number | null => {
  const cause = error instanceof DownloadError ? error.cause : null;
  return cause instanceof ServiceError ? cause.status : null;
};

/** Whether the server has said that it has no such file. */
export function isMissing(error: unknown): boolean {
  return [404, 410].includes(statusOf(error) ?? 0);
}

/** As `isMissing`, or that the file must not be read: some servers tell no difference. */
export function isWithheld(error: unknown): boolean {
  return isMissing(error) || [400, 401, 403].includes(statusOf(error) ?? 0);
}

export interface DownloadRequest {
  readonly url: string;
  /** What has arrived is kept beside this file, with `.part` at the end of its name, until all is there. */
  readonly to: string;
  /** Of the whole file. */
  readonly maxBytes: number;
  /** Whether the address may be in a private network. Default: false. */
  readonly allowPrivate?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: DownloadProgress) => void;
  readonly partBytes?: number;
  /** Default: `defaultPace`. */
  readonly pace?: Pace;
  readonly retry?: PartsClientOptions["retry"];
  readonly clock?: Clock;
  readonly lookup?: PartsClientOptions["lookup"];
}

/** The time that a download may take: `graceMillis`, and more for each byte that has arrived. */
export interface Pace {
  readonly graceMillis: number;
  readonly bytesPerSecond: number;
}

/** In the time of grace, one attempt at a part fits, and a second one for a part that a bad connection has cut. */
export const defaultPace: Pace = { graceMillis: 180_000, bytesPerSecond: 20_000 };

export interface DownloadProgress {
  readonly bytes: number;
  readonly of: number;
}

/** Without a user name, password, query and fragment, which may give access to the file. */
export function shownAddress(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return "not an address";
  Object.assign(parsed, { username: "", password: "", search: "", hash: "" });
  return parsed.href;
}

const maxRestarts = 3;

/** What the parts that have arrived belong to. The address may hold a signature that gives access. */
const state = z.object({ urlHash: z.string(), version: z.string().nullable(), total: z.int().min(0) });
type State = z.infer<typeof state>;

/** @throws DownloadError; the signal's reason; system errors */
export async function download(request: DownloadRequest): Promise<void> {
  const { url, to, maxBytes, signal, onProgress = () => {} } = request;
  const client = await openFollowingClient(request);
  const deadline = startDeadline(request.pace ?? defaultPace, url, signal);
  const part = `${to}.part`;
  const stateFile = `${part}.json`;
  let known = readState(stateFile, part, url);
  let size = known === null ? 0 : statSync(part).size;
  const startOver = () => {
    for (const file of [part, stateFile]) rmSync(file, { force: true });
    known = null;
    size = 0;
  };
  try {
    for (let restarts = 0; known === null || size < known.total; ) {
      deadline.signal.throwIfAborted();
      const fetched = await client.fetch(size, deadline.signal);
      const isOfKnown =
        fetched.outcome === "part" &&
        fetched.from === size &&
        (known === null || (fetched.version === known.version && fetched.total === known.total));
      if (!isOfKnown) {
        if (++restarts > maxRestarts)
          throw new DownloadError(
            "keeps-changing",
            `The file changes while it is downloaded: ${shownAddress(url)}`,
            "Try again later.",
          );
        startOver();
        continue;
      }
      if (fetched.total > maxBytes)
        throw new DownloadError(
          "too-large",
          `The file has ${fetched.total} bytes, and at most ${maxBytes} are downloaded: ${shownAddress(url)}`,
        );
      if (known === null) {
        known = { urlHash: hash("sha256", url), version: fetched.version, total: fetched.total };
        writeFileSync(part, "", { mode: 0o600 });
        writeFileSync(stateFile, JSON.stringify(known), { mode: 0o600 });
      }
      await append(part, fetched.bytes);
      size += fetched.bytes.byteLength;
      deadline.extend(fetched.bytes.byteLength);
      onProgress({ bytes: size, of: known.total });
    }
    renameSync(part, to);
    rmSync(stateFile, { force: true });
  } catch (error) {
    // Without a version, the parts of a later download could be of another file.
    const canContinue = size > 0 && known !== null && known.version !== null;
    if (!canContinue) startOver();
    throw toDownloadError(error, url, canContinue);
  } finally {
    deadline.end();
    await client.close();
  }
}

interface Deadline {
  /** Aborted at the deadline, or with the signal of the request. */
  readonly signal: AbortSignal;
  /** @param bytes that have arrived */
  extend(bytes: number): void;
  end(): void;
}

/** Each attempt has a limit of its own, but a server may send a little of each, or little parts, without end. */
function startDeadline({ graceMillis, bytesPerSecond }: Pace, url: string, signal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const startedAt = performance.now();
  let arrived = 0;
  let timer: NodeJS.Timeout | undefined;
  const arm = () => {
    clearTimeout(timer);
    const millis = graceMillis + (arrived / bytesPerSecond) * 1000 - (performance.now() - startedAt);
    timer = setTimeout(() => controller.abort(tooSlow()), Math.max(0, millis));
  };
  const tooSlow = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    return new ServiceError("timeout", `too slow: ${arrived} bytes have arrived in ${seconds} s`, { url });
  };
  arm();
  return {
    signal: signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]),
    extend(bytes) {
      arrived += bytes;
      arm();
    },
    end: () => clearTimeout(timer),
  };
}

async function append(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "a", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Null if nothing can be continued. */
function readState(stateFile: string, part: string, url: string): State | null {
  if (!existsSync(stateFile) || !existsSync(part)) return null;
  const parsed = state.safeParse(parseOrNull(readFileSync(stateFile, "utf8")));
  // Without a version, parts of different files could be joined.
  if (!parsed.success || parsed.data.urlHash !== hash("sha256", url) || parsed.data.version === null)
    return null;
  // A crash may have written more than it has noted, but never other bytes.
  if (statSync(part).size > parsed.data.total) truncateSync(part, 0);
  return parsed.data;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface FollowingClient {
  fetch(from: number, signal: AbortSignal): Promise<Exclude<FetchedPart, { outcome: "elsewhere" }>>;
  close(): Promise<void>;
}

/** Follows redirects to other servers, as places for downloads often have them; never from https: to http:. */
async function openFollowingClient(request: DownloadRequest): Promise<FollowingClient> {
  const { url, allowPrivate = false } = request;
  const first = URL.parse(url);
  if (first === null || !/^https?:$/.test(first.protocol) || first.username !== "" || first.password !== "")
    throw new DownloadError(
      "invalid-address",
      `This is no address of a file to download: ${shownAddress(url)}`,
      "Give an https: address.",
    );
  const allowed = new Set<IpClass>(["public"]);
  if (allowPrivate) allowed.add(await ipClassOfHost(first.hostname));
  const openClient = ({ origin }: URL): PartsClient => openPartsClient({ ...request, origin, allowed });
  let client = openClient(first);
  // Later parts are requested where the first one was.
  let target = first;
  return {
    async fetch(from, signal) {
      for (let redirects = 0; redirects <= defaultLimits.maxRedirects; redirects++) {
        const fetched = await client.fetch({ url: target.href, from, signal });
        if (fetched.outcome !== "elsewhere") return fetched;
        const next = new URL(fetched.url);
        if (!/^https?:$/.test(next.protocol))
          throw new ServiceError(
            "link-refused",
            "redirected to an address that is neither https: nor http:",
            { url },
          );
        if (target.protocol === "https:" && next.protocol !== "https:")
          throw new ServiceError("link-refused", "redirected to an address without https:", { url });
        await client.close();
        target = next;
        client = openClient(target);
      }
      throw new ServiceError("too-many-redirects", "redirected too often", { url });
    },
    close: () => client.close(),
  };
}

function toDownloadError(error: unknown, url: string, canContinue: boolean): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.code === "private-address") {
    const [given, refused] = [shownAddress(url), shownAddress(error.url)];
    const message =
      given === refused
        ? `The address is in a private network: ${given}`
        : `${given} leads to a private network: ${refused}`;
    const hint =
      given === refused
        ? "Add --allow-private if that network is yours."
        : "If that network is yours, give that address, and --allow-private.";
    return new DownloadError("refused", message, hint, { cause: error });
  }
  const hint = canContinue
    ? "What has arrived is kept; the same command continues."
    : "Nothing was kept. Check the address, then try again.";
  return new DownloadError("unavailable", `${shownAddress(url)}: ${error.detail}`, hint, { cause: error });
}
