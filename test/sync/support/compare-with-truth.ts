/**
 * Compares a mirror with the sandbox's data. It interprets envelopes independently of the projections, so that it does not
 * repeat their mistakes.
 */
import type { MirrorReader } from "../../../src/mirror/reader.ts";
import type { TruthRecord } from "../../../src/sandbox/resources/catalogue.ts";
import type { Json, JsonObject } from "../../../src/sandbox/resources/view.ts";
import { problemsOf } from "../../mirror/support/mirror-rig.ts";
import { currentBodies } from "../../support/current-bodies.ts";
import type { Rig } from "./rig.ts";

/** Held bodies and rows as text, by "body URL" and "table URL". */
type Holding = ReadonlyMap<string, string>;

const tables = ["brand", "model", "size"] as const;
/** Columns that the service did not send. */
const ownColumns = new Set(["first_seen_at", "checked_at", "gone_at", "confirmed"]);

/**
 * The first differences, and all problems of the mirror; empty for a correct mirror.
 * @param ignored URLs whose bodies are not compared
 */
export function differencesFromTruth(rig: Rig, ignored: ReadonlySet<string> = new Set()): string[] {
  const expected = expectedHolding(rig.sandbox.truth(), rig.serviceName);
  const held = rig.read(readHolding);
  const keys = [...new Set([...expected.keys(), ...held.keys()])];
  const differences = keys
    .filter((key) => expected.get(key) !== held.get(key) && !ignored.has(key.replace(/^body /, "")))
    .map((key) => `${key} is ${held.get(key)} and should be ${expected.get(key)}`);
  return [...differences.slice(0, 5), ...rig.read(problemsOf).map((problem) => JSON.stringify(problem))];
}

/** The current bodies of the sandbox by URL. */
export function truthOf({ sandbox }: Rig): Map<string, string> {
  return new Map([...sandbox.truth()].map(({ url, body }) => [url, JSON.stringify(body)]));
}

function readHolding(mirror: MirrorReader): Holding {
  const holding = new Map<string, string>();
  const held = mirror.db.prepare<[], string>("select url from _resource where state = 'held'").pluck();
  const bodies = currentBodies(mirror);
  for (const url of held.all()) holding.set(`body ${url}`, bodies.get(url) ?? "");
  for (const table of tables) {
    const rows = mirror.db.prepare<[], { href: string }>(`select * from ${table}_current`).all();
    for (const { href, ...row } of rows) {
      const cells = Object.entries(row).filter(([name]) => !ownColumns.has(name));
      holding.set(`${table} ${href}`, sorted(Object.fromEntries(cells)));
    }
  }
  const pictures = mirror.db.prepare<[], { href: string; n: number }>(
    "select m.href, p.n, p.url, p.text from model_picture p join model_current m on m.href = p.model_href",
  );
  for (const { href, n, ...picture } of pictures.all())
    holding.set(`picture ${n} of ${href}`, sorted(picture));
  return holding;
}

/** The content of a correct mirror of these records. */
function expectedHolding(records: Iterable<TruthRecord>, serviceName: string): Holding {
  const holding = new Map<string, string>();
  const brandOfModel = new Map<string, Json>();
  for (const { kind, url, body: envelope } of records) {
    holding.set(`body ${url}`, JSON.stringify(envelope));
    if (!tables.some((table) => table === kind)) continue;
    const { links, body = {} } = envelope;
    if (kind === "model") brandOfModel.set(url, links.brand ?? null);
    const { manufacturer_stock_pictures: pictures, [`${serviceName}_url`]: page, ...fields } = body;
    const cells = Object.entries(fields).map(([name, value]) => [name, cellOf(name, value)] as const);
    const parents = parentsOf(kind, links, brandOfModel);
    holding.set(
      `${kind} ${url}`,
      sorted({ ...Object.fromEntries(cells), ...parents, service_url: page ?? null }),
    );
    for (const [n, picture] of listOf(pictures).entries())
      holding.set(`picture ${n} of ${url}`, sorted(picture));
  }
  return holding;
}

function cellOf(name: string, value: Json): Json {
  if (typeof value === "boolean") return value ? 1 : 0;
  if (name === "bra_count") return Number(value);
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

function parentsOf(kind: string, links: JsonObject, brandOfModel: ReadonlyMap<string, Json>): JsonObject {
  if (kind === "model") return { brand_href: links.brand ?? null };
  if (kind !== "size") return {};
  return { model_href: links.model ?? null, brand_href: brandOfModel.get(String(links.model)) ?? null };
}

function listOf(value: Json | undefined): readonly object[] {
  return Array.isArray(value) ? value : [];
}

function sorted(fields: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))));
}
