/** The parsers of text from outside, and the steps that each takes for a text and for one of twice its length. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromCsvText, readCsvRows, toCsvText } from "../../../exports/formats/csv.ts";
import { readJsonRows } from "../../../exports/formats/json.ts";
import { readLines } from "../../../exports/package/lines.ts";
import { kinds } from "../../../jobs/kinds.ts";
import { parseJsonOrThrow } from "../../../schema/json.ts";
import { compareChecksums } from "../../../src/archive/container/checksums.ts";
import { scanBackup } from "../../../src/archive/contents/check-backup.ts";
import { parseManifest } from "../../../src/archive/contents/manifest.ts";
import { deriveOrThrow } from "../../../src/mirror/derive/derive.ts";
import { pictureReferencesIn } from "../../../src/mirror/media/picture-references.ts";
import { readPoint } from "../../../src/mirror/points/point.ts";
import { toSortable } from "../../../src/mirror/points/service-time.ts";
import { toSearchText } from "../../../src/mirror/search/search-words.ts";
import { similarNames, spellings } from "../../../src/platform/text/fuzzy-names.ts";
import { requireTimes } from "../../../src/schedule/cron-times.ts";
import { withoutUserinfo } from "../../../src/service/errors.ts";
import {
  readEntityTag,
  readRateLimitHeaders,
  readRetryAfter,
} from "../../../src/service/requests/headers.ts";
import { isJsonType } from "../../../src/service/requests/read-body.ts";
import { resolveLink } from "../../../src/service/same-origin.ts";
import { readEncoding } from "../../../src/service/transport/content-encoding.ts";
import { createRewriter } from "../../../src/web/api/rewrite-urls.ts";
import type { StepCounter } from "./count-steps.ts";

const origin = "https://service.example";
const context = { kinds, origin, serviceName: "service" };
const point = { now: 0, timeZone: "UTC" };
const rewrite = createRewriter(origin, "http://127.0.0.1:8901");

/** Runs a parser whatever it returns; most of these texts are refused. */
const tried = (parse: () => unknown) => async () => {
  try {
    await parse();
  } catch {}
};

const units = [
  "0",
  "9",
  "a",
  "\\",
  '"',
  '""',
  "'",
  ",",
  "\n",
  "\t",
  "=",
  "/",
  "-",
  "@",
  "é",
  "\ud800",
  "[",
  "{",
  "1 ",
];

const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  "JSON with a text": (text) => parseJsonOrThrow(JSON.stringify(text)),
  "JSON of this text": (text) => parseJsonOrThrow(text),
  "JSON with a number": (text) => parseJsonOrThrow(`[1${text}1, 1.${text}1e5]`),
  "a body with these names and links": (text) =>
    derive({ [text]: 1, a: text }, { [text]: text, models: text }),
  links: (text) => resolveLink(text, `${origin}/`, origin),
  "refused links": (text) => withoutUserinfo(`\t${text}`),
  headers: (text) => [
    readRetryAfter(text, 0),
    readEntityTag(text),
    isJsonType(text),
    readEncoding(text),
    readRateLimitHeaders({ "x-ratelimit-limit": text, "x-ratelimit-reset": text, ratelimit: text }, 0),
  ],
  "times of the service": (text) => toSortable(`2026-01-01T00:00:00.${text}1`),
  points: (text) => readPoint(text, point),
  "cron expressions": (text) => requireTimes(text, "UTC", 0),
  names: (text) => [
    toSearchText([text]),
    spellings.map((spell) => spell(text)),
    similarNames("abc", [text], 1),
  ],
  "cells of CSV": (text) => fromCsvText(toCsvText(text, "guarded"), "guarded"),
  "rows of CSV": (text) => [...readCsvRows(["a", ...text.split("\n")], "guarded")],
  "rows of JSON": (text) => [...readJsonRows([`{"a":${JSON.stringify(text)}}`, text], ["a"])],
  "lines of a file": (text) => {
    const folder = mkdtempSync(join(tmpdir(), "armoire-lines-"));
    try {
      const file = join(folder, "lines");
      writeFileSync(file, text);
      return [...readLines(file)];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
  checksums: (text) => compareChecksums(text, new Map([["a", "b"]]), "SHA256SUMS"),
  "a backup": (text) => scanBackup([Buffer.from(text)]),
  "a backup's manifest": (text) => parseManifest(text),
  "URLs to rewrite": (text) => [
    rewrite(JSON.stringify([text, `https://${text}`, { [`${origin}/${text}`]: `${origin}/${text}` }])),
    rewrite(`"https:\\/\\/${text}`),
  ],
  pictures: (text) => pictureReferencesIn({ picture: text, [text]: text }, `${origin}/`),
};

function derive(body: object, links: object): unknown {
  const value = { rel: "entity", links, meta: { next: Object.keys(links)[0] }, body };
  return deriveOrThrow({ value, hasDuplicateKeys: false }, { baseUrl: `${origin}/`, kind: "brand" }, context);
}

/** Bodies with more and more of one thing. */
const bodies: Readonly<Record<string, (count: number) => object>> = {
  items: (count) => collection(count, (n) => ({ href: `/brands/${n}/`, name: `Brand ${n}` })),
  "items of wrong types": (count) => collection(count, () => ({ href: 7, name: [] })),
  "unknown fields": (count) => ({ ...collection(0, () => ({})), ...named(count, (n) => n) }),
  links: (count) => ({ ...collection(0, () => ({})), links: named(Math.min(count, 1_000), (n) => `/${n}`) }),
};

function collection(count: number, item: (n: number) => object): object {
  return {
    rel: "collection",
    links: {},
    meta: {},
    collection: Array.from({ length: count }, (_, n) => item(n)),
  };
}

function named(count: number, value: (n: number) => unknown): object {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`field ${n}`, value(n)]));
}

function readBody(text: string): unknown {
  return deriveOrThrow(parseJsonOrThrow(text), { baseUrl: `${origin}/`, kind: "brands" }, context);
}

export interface Measurement {
  /** The parser, or what the body has more and more of. */
  readonly name: string;
  /** What the text repeats; null for bodies. */
  readonly unit: string | null;
  readonly steps: number;
  readonly stepsOfDouble: number;
}

export async function measureAll(counter: StepCounter): Promise<Measurement[]> {
  const measure = async (
    name: string,
    unit: string | null,
    run: (length: number) => () => unknown,
    length: number,
  ) => {
    // What is cached at the first call does not count.
    await run(4)();
    const steps = await counter.count(run(length));
    return { name, unit, steps, stepsOfDouble: await counter.count(run(2 * length)) };
  };
  const measurements: Measurement[] = [];
  for (const [name, parser] of Object.entries(parsers))
    for (const unit of units)
      measurements.push(
        await measure(name, unit, (length) => tried(() => parser(unit.repeat(length))), 2_000),
      );
  for (const [name, body] of Object.entries(bodies))
    measurements.push(
      await measure(name, null, (count) => tried(() => readBody(JSON.stringify(body(count)))), 400),
    );
  // Edits are counted for each pair of letters, up to a limit of letters.
  const compare = (length: number) => () => similarNames("a".repeat(length), ["b".repeat(length)], 1);
  measurements.push(await measure("a quadratic loop", null, compare, 80));
  return measurements;
}
