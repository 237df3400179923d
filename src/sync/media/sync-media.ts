/**
 * The pictures of an account: what her data refers to, downloaded without any credential and kept beside her mirror. In: an
 * account's mirror. Out: a report. A picture that cannot be had is told and fails nothing else; whatever came is kept.
 */
import { kinds } from "../../../jobs/kinds.ts";
import { toMirrorError } from "../../mirror/file/errors.ts";
import { type KnownPicture, totalMediaBytes } from "../../mirror/media/media-index.ts";
import { type MirrorWriter, openMirrorWriter } from "../../mirror/writer.ts";
import { type Clock, systemClock, toIso } from "../../platform/clock.ts";
import { ipClassOfHost } from "../../platform/ip-class.ts";
import { openPictureClient } from "../../service/pictures/client.ts";
import { openLedger } from "../rate-limit/ledger.ts";
import { createRunBudget, type RunBudget } from "../rate-limit/run-budget.ts";
import { createGracefulStop } from "../run/run-stop.ts";
import { fetchPictures, type MediaReport, noPictures, type PictureOrigin } from "./fetch-pictures.ts";

export interface MediaOptions {
  /** The account's mirror. */
  readonly file: string;
  readonly baseUrl: string;
  /** The vendor's word in `<name>_url`; `service` unless told. */
  readonly serviceName?: string;
  /** Of what is asked of the service without a credential: the catalogue's, since nobody's token pays for it. */
  readonly ledgerFile: string;
  /** Counted requests at most to the service's own origin; null for as many as it grants. */
  readonly budget?: number | null;
  /** Requests of the allowance to leave for others; none unless told. */
  readonly reserve?: number;
  /** Requests under way at a time; 4 unless told. */
  readonly concurrency?: number;
  /** Ends the run early: what is under way is finished and saved. */
  readonly signal?: AbortSignal;
  /** Told of the origins besides the service's, before the first picture is asked for. */
  readonly onOtherOrigins?: (origins: readonly PictureOrigin[]) => void;
  /** Of one picture; 16 MiB unless told. */
  readonly maxBytes?: number;
  /** Of all pictures that are kept; 1 GiB unless told. */
  readonly maxTotalBytes?: number;
  readonly clock?: Clock;
}

const mebibyte = 1024 * 1024;
/** Other hosts have nothing to do with the service's allowance. */
const unmetered = { release: () => {} };

/** @throws MirrorError, LedgerError, ServiceSettingsError */
export async function syncMedia(options: MediaOptions): Promise<MediaReport> {
  const { file, serviceName = "service", clock = systemClock } = options;
  const { href: baseUrl, origin } = new URL(options.baseUrl);
  const mirror = await openMirrorWriter({
    file,
    kinds,
    openedAt: toIso(clock.now()),
    identity: { baseUrl, area: "account", serviceName },
  });
  const ledger = await openLedger({ file: options.ledgerFile, principal: { origin, credential: null } });
  const { budget = null, reserve = 0 } = options;
  const allowance = createRunBudget({ ledger, rootUrl: baseUrl, budget, reserve, clock });
  try {
    return await fetchAll(mirror, allowance, { ...options, clock });
  } catch (error) {
    throw toMirrorError(error, file);
  } finally {
    allowance.close();
    mirror.close();
  }
}

async function fetchAll(
  mirror: MirrorWriter,
  allowance: RunBudget,
  options: MediaOptions & { readonly clock: Clock },
): Promise<MediaReport> {
  const { clock, signal, onOtherOrigins, concurrency = 4, maxBytes = 16 * mebibyte } = options;
  const { origin: serviceOrigin, hostname } = new URL(options.baseUrl);
  const groups = byOrigin(mirror.notePictures());
  const origins = groups.map(({ origin, pictures }) => ({ origin, pictures: pictures.length }));
  const others = origins.filter(({ origin }) => origin !== serviceOrigin);
  if (others.length > 0) onOtherOrigins?.(others);
  const serviceClass = await ipClassOfHost(hostname);
  const room = { bytes: (options.maxTotalBytes ?? 1024 * mebibyte) - totalMediaBytes(mirror.db) };
  const counts = noPictures();
  let sent = 0;
  const interruption = createGracefulStop(signal);
  try {
    for (const { origin, pictures } of groups) {
      const isMetered = origin === serviceOrigin;
      const door = openPictureClient({
        origin,
        serviceOrigin,
        serviceClass,
        maxBytes,
        connections: concurrency,
        clock,
        async rateLimiter(attempt) {
          const reservation = isMetered ? await allowance.acquirePermit(attempt) : unmetered;
          sent++;
          return reservation;
        },
      });
      await fetchPictures(pictures, {
        mirror,
        door,
        counts,
        room,
        concurrency,
        now: clock.now,
        signal: interruption.cancel,
        isStopping: () => interruption.isRequested,
      }).finally(door.close);
    }
  } finally {
    interruption.end();
  }
  const stopped = interruption.isRequested ? "interrupted" : allowance.refusal;
  return { pictures: counts, origins, requests: { sent, counted: allowance.counts.counted }, stopped };
}

/** First where most are. */
function byOrigin(pictures: readonly KnownPicture[]) {
  const groups = Map.groupBy(pictures, ({ url }) => new URL(url).origin);
  return [...groups]
    .map(([origin, own]) => ({ origin, pictures: own }))
    .sort((one, other) => other.pictures.length - one.pictures.length);
}
