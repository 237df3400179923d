/** One target for each parser of text from outside. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ExportError } from "../../exports/errors.ts";
import { csvProfiles, fromCsvText, readCsvRows, toCsvText } from "../../exports/formats/csv.ts";
import { kinds } from "../../jobs/kinds.ts";
import { parseJsonBytesOrThrow } from "../../schema/json.ts";
import { ZipError } from "../../src/archive/container/zip-reader.ts";
import { scanBackup } from "../../src/archive/contents/check-backup.ts";
import { parseManifest } from "../../src/archive/contents/manifest.ts";
import { BackupError } from "../../src/archive/errors.ts";
import { deriveOrThrow, isRefusal } from "../../src/mirror/derive/derive.ts";
import { pictureReferencesIn } from "../../src/mirror/media/picture-references.ts";
import { PointError, parsePoint } from "../../src/mirror/points/point.ts";
import { readServiceTime } from "../../src/mirror/points/service-time.ts";
import { toSearchText } from "../../src/mirror/search/search-words.ts";
import { requireTimes, timeAfter, timeUpTo } from "../../src/schedule/cron-times.ts";
import { ScheduleError } from "../../src/schedule/errors.ts";
import { ServiceError, withoutUserinfo } from "../../src/service/errors.ts";
import { readBackoffUntil, readRateLimitHeaders } from "../../src/service/requests/headers.ts";
import { interpretResponse } from "../../src/service/requests/interpret-response.ts";
import { noResponse } from "../../src/service/requests/rate-limiter.ts";
import { resolveLink } from "../../src/service/same-origin.ts";
import { defaultLimits } from "../../src/service/transport/pool.ts";
import { forgeZip } from "../archive/support/forge-zip.ts";
import { withSums } from "../archive/support/forgery.ts";
import type { Target } from "./support/fuzz.ts";

const origin = "https://service.example";
const context = { kinds, origin, serviceName: "service" };
const kindNames = Object.keys(kinds);
const now = Date.UTC(2026, 0, 15);

const require = (holds: boolean, claim: string, ...about: unknown[]) => {
  if (!holds) throw new Error(`does not hold: ${claim}: ${JSON.stringify(about)}`);
};

/** Runs a parser, for which these errors are answers. */
function accepting<Result>(isAnswer: (error: unknown) => boolean, parse: () => Result): Result | undefined {
  try {
    return parse();
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return undefined;
  }
}

/** The name of a kind on the first line, then a body. */
function runBody(input: Buffer): void {
  const end = input.indexOf("\n");
  const kind = input.subarray(0, end === -1 ? 0 : end).toString();
  const parsed = accepting(isRefusal, () => parseJsonBytesOrThrow(input.subarray(end + 1)));
  if (parsed === undefined) return;
  JSON.parse(JSON.stringify(parsed.value) ?? "null");
  const resource = { baseUrl: `${origin}/x/?page=1`, kind: kindNames.includes(kind) ? kind : "brands" };
  const derived = accepting(isRefusal, () => deriveOrThrow(parsed, resource, context));
  for (const { url } of [...(derived?.links ?? []), ...(derived?.items ?? [])])
    require(url === null || new URL(url).origin === origin, "links stay at the origin", url);
  for (const { name } of derived?.items ?? []) if (name !== null) toSearchText([name]);
  for (const { url } of pictureReferencesIn(parsed.value, resource.baseUrl))
    require(/^https?:/.test(url), "pictures are web addresses", url);
}

function runLink(input: Buffer): void {
  const href = input.toString();
  const resolved = resolveLink(href, `${origin}/x/y/`, origin);
  if ("url" in resolved) {
    const again = resolveLink(resolved.url, `${origin}/`, origin);
    require("url" in again && again.url === resolved.url, "a resolved link resolves to itself", resolved.url);
    require(new URL(resolved.url).origin === origin, "a link stays at the origin", resolved.url);
  }
  const shown = withoutUserinfo(href);
  const url = URL.parse(shown, origin);
  require(!/^https?:$/.test(url?.protocol ?? "") ||
    url?.password === "", "no password is shown", href, shown);
}

/** A status line, headers, an empty line, and a body. */
function runResponse(input: Buffer): void {
  const [head = "", ...rest] = input.toString("latin1").split("\n\n");
  const [statusText = "", ...lines] = head.split("\n");
  const headers: Record<string, string> = Object.create(null);
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon > 0) headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const status = Math.min(999, Math.max(200, Number.parseInt(statusText, 10) || 200));
  const response = { status, headers };
  const retryAt = readBackoffUntil(response, now);
  const report = { ...noResponse, status, retryAt, allowance: readRateLimitHeaders(headers, now) };
  require(retryAt === null || Number.isFinite(retryAt), "a wait is finite", retryAt);
  const url = `${origin}/`;
  const asked = { url, finalUrl: url, etag: '"a"', lastModified: null, waits: 0, isExamined: true };
  const request = { ...asked, limits: defaultLimits, maxRetryAfterMillis: 60_000 };
  const wire = Buffer.from(rest.join("\n\n"), "latin1");
  accepting(
    (error) => error instanceof ServiceError,
    () =>
      interpretResponse(response, wire, report, {
        ...request,
        clock: { now: () => now },
        redact: (text) => text,
      }),
  );
}

/** Each entry of a backup is a line with a name and its content as JSON; ZIP headers and checksums are made to fit. */
async function runBackupContents(input: Buffer): Promise<void> {
  const entries = input
    .toString()
    .split("\n=== ")
    .map((part) => {
      const end = part.indexOf("\n");
      return { name: part.slice(0, end === -1 ? 200 : end), content: Buffer.from(part.slice(end + 1)) };
    });
  await runBackup(forgeZip(withSums(entries)));
}

async function runBackup(input: Buffer): Promise<void> {
  try {
    await scanBackup([input]);
  } catch (error) {
    if (!(error instanceof BackupError || error instanceof ZipError)) throw error;
  }
}

function runManifest(input: Buffer): void {
  accepting(
    (error) => error instanceof BackupError,
    () => parseManifest(input.toString()),
  );
}

function runPoint(input: Buffer): void {
  const text = input.toString();
  const isAnswer = (error: unknown) => error instanceof PointError;
  for (const timeZone of ["UTC", "Europe/Berlin"]) {
    const point = accepting(isAnswer, () => parsePoint(text, { now, timeZone }));
    if (point?.kind === "time") require(point.from <= point.at, "a point begins before it ends", point);
    accepting(isAnswer, () => readServiceTime(text, { now, timeZone }));
  }
}

/** A cron expression, and a time zone on the second line. */
function runCron(input: Buffer): void {
  const [cron = "", tz = "UTC"] = input.toString().split("\n");
  const zone = accepting(
    (error) => error instanceof ScheduleError,
    () => requireTimes(cron, tz, now),
  );
  if (zone === undefined) return;
  const schedule = { cron, tz: zone, delayMillis: 0 };
  const next = timeAfter(schedule, now);
  require(next !== null && next > now, "a schedule is due later", cron, next);
  if (next !== null)
    require(timeUpTo(schedule, next) === next, "a due time is the last one up to itself", cron, tz, next);
}

function runCsv(input: Buffer): void {
  const text = input.toString();
  for (const profile of csvProfiles) {
    require(fromCsvText(toCsvText(text, profile), profile) === text, "a cell is read back as written", text);
    const rows = accepting(
      (error) => error instanceof ExportError,
      () => [...readCsvRows(text.split("\n"), profile)],
    );
    for (const row of rows ?? []) require(row.length > 0, "a row has cells");
  }
}

const runs: Readonly<Record<string, Target["run"]>> = {
  bodies: runBody,
  links: runLink,
  headers: runResponse,
  archives: runBackup,
  "archive-contents": runBackupContents,
  manifests: runManifest,
  points: runPoint,
  cron: runCron,
  csv: runCsv,
};

const seeds = join(import.meta.dirname, "seeds");

export const targets: Readonly<Record<string, Target>> = Object.fromEntries(
  Object.entries(runs).map(([name, run]) => {
    const folder = join(seeds, name);
    return [
      name,
      {
        run,
        seeds: readdirSync(folder)
          .sort()
          .map((file) => readFileSync(join(folder, file))),
      },
    ];
  }),
);
