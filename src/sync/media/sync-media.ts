/**
 * Downloads the pictures that an account refers to, without any credential, and stores them beside its mirror. In: the
 * mirror of an account. Out: a report. A failed picture is reported and affects no other.
 */
import { kinds } from "../../../jobs/kinds.ts";
import { limits } from "../../../schema/input/limits.ts";
import { toMirrorError } from "../../mirror/file/errors.ts";
import { type KnownPicture, totalMediaBytes } from "../../mirror/media/media-index.ts";
import { readMirror } from "../../mirror/reader.ts";
import { type MirrorWriter, openMirrorWriter } from "../../mirror/writer.ts";
import { type Clock, systemClock, toIso } from "../../platform/clock.ts";
import { requireNumbersFrom, requireWholeNumbers } from "../../platform/errors.ts";
import { ipClassOfHost } from "../../platform/network/ip-class.ts";
import { openPictureClient } from "../../service/pictures/client.ts";
import { createRunBudget, type RunBudget } from "../rate-limit/run-budget.ts";
import { openLedger } from "../rate-limit/store/ledger-store.ts";
import { createGracefulStop } from "../run/run-stop.ts";
import {
  emptyCounts,
  fetchPictures,
  type MediaReport,
  type PictureOrigin,
  refusePictures,
} from "./fetch-pictures.ts";

export interface MediaOptions {
  /** The account's mirror. */
  readonly file: string;
  /** The service's root. */
  readonly baseUrl: string;
  /** The prefix of the service's own fields: `acme` for `acme_url`. Default: the mirror's. */
  readonly serviceName?: string;
  /** The catalogue's ledger, which counts requests without a credential. */
  readonly ledgerFile: string;
  /** At most so many counted requests to the service's own origin. Default: null, as many as it grants. */
  readonly budget?: number | null;
  /** Requests of the allowance to leave unspent. Default: 0. */
  readonly reserve?: number;
  /** Requests running at a time. Default: 4. */
  readonly concurrency?: number;
  /** Ends the run early: running requests are finished and saved. */
  readonly signal?: AbortSignal;
  /** Called with the origins other than the service's, before the first request. */
  readonly onOtherOrigins?: (origins: readonly PictureOrigin[]) => void;
  /** Maximum size of one picture. Default: 16 MiB. */
  readonly maxBytes?: number;
  /** Maximum size of all stored pictures. Default: 1 GiB. */
  readonly maxTotalBytes?: number;
  readonly clock?: Clock;
}

const mebibyte = 1024 * 1024;
/** For other hosts, which have nothing to do with the service's allowance. */
const unlimitedPermit = { release: () => {} };

/**
 * Downloads the pictures that an account's mirror refers to, beside that mirror, and checks those that it has. A picture
 * that cannot be downloaded is counted in the report and is no error.
 * @throws RangeError for an option out of its range, MirrorError, LedgerError, ServiceSettingsError
 */
export async function syncMedia(options: MediaOptions): Promise<MediaReport> {
  const { file, clock = systemClock, budget = null, reserve = 0 } = options;
  requireWholeNumbers(0, { budget, reserve });
  requireWholeNumbers(1, { concurrency: options.concurrency });
  requireNumbersFrom(0, { maxBytes: options.maxBytes, maxTotalBytes: options.maxTotalBytes });
  const { href: baseUrl, origin } = new URL(options.baseUrl);
  const { serviceName = readMirror(file, ({ identity }) => identity.serviceName) } = options;
  const mirror = await openMirrorWriter({
    file,
    kinds,
    openedAt: toIso(clock.now()),
    identity: { baseUrl, area: "account", serviceName },
    mustExist: true,
  });
  try {
    const ledger = await openLedger({ file: options.ledgerFile, principal: { origin, credential: null } });
    const runBudget = createRunBudget({ ledger, rootUrl: baseUrl, budget, reserve, clock });
    try {
      return await fetchAll(mirror, runBudget, { ...options, clock });
    } finally {
      runBudget.close();
    }
  } catch (error) {
    throw toMirrorError(error, file);
  } finally {
    mirror.close();
  }
}

async function fetchAll(
  mirror: MirrorWriter,
  runBudget: RunBudget,
  options: MediaOptions & { readonly clock: Clock },
): Promise<MediaReport> {
  const { clock, signal, onOtherOrigins, concurrency = 4, maxBytes = 16 * mebibyte } = options;
  const { origin: serviceOrigin, hostname } = new URL(options.baseUrl);
  const all = groupByOrigin(mirror.notePictures());
  const groups = all.slice(0, limits.pictureHosts);
  const origins = groups.map(({ origin, pictures }) => ({ origin, pictures: pictures.length }));
  const others = origins.filter(({ origin }) => origin !== serviceOrigin);
  if (others.length > 0) onOtherOrigins?.(others);
  const serviceClass = await ipClassOfHost(hostname);
  const { maxTotalBytes = 1024 * mebibyte } = options;
  const space = { bytesLeft: maxTotalBytes - totalMediaBytes(mirror.db) };
  const counts = emptyCounts();
  let sent = 0;
  const gracefulStop = createGracefulStop(signal);
  try {
    for (const { origin, pictures } of groups) {
      const client = openPictureClient({
        origin,
        serviceOrigin,
        serviceClass,
        maxBytes,
        connections: concurrency,
        clock,
        async rateLimiter(request) {
          const isLimited = origin === serviceOrigin;
          const permit = isLimited ? await runBudget.acquirePermit(request) : unlimitedPermit;
          sent++;
          return permit;
        },
      });
      await fetchPictures(pictures, {
        mirror,
        client,
        counts,
        space,
        concurrency,
        now: clock.now,
        signal: gracefulStop.cancel,
        isStopping: () => gracefulStop.isRequested,
      }).finally(client.close);
    }
    const refused = all.slice(groups.length).flatMap(({ pictures }) => pictures);
    if (!gracefulStop.isRequested) refusePictures(refused, { mirror, counts, now: clock.now });
    else counts.pending += refused.length;
  } finally {
    gracefulStop.end();
  }
  const stopped = gracefulStop.isRequested ? "interrupted" : runBudget.refusal;
  return { pictures: counts, origins, requests: { sent, counted: runBudget.counts.counted }, stopped };
}

/** The origin with most pictures first. */
function groupByOrigin(pictures: readonly KnownPicture[]) {
  const groups = Map.groupBy(pictures, ({ url }) => new URL(url).origin);
  return [...groups]
    .map(([origin, pictures]) => ({ origin, pictures }))
    .sort((a, b) => b.pictures.length - a.pictures.length);
}
