/** Compares a mirror with the data of the independent service: each body as text, and each row. */
import { kinds } from "../../../../jobs/kinds.ts";
import { checkMirror } from "../../../../src/mirror/check/check.ts";
import type { MirrorReader } from "../../../../src/mirror/reader.ts";
import { currentBodies } from "../../../support/current-bodies.ts";
import type { Address, DocumentName } from "../../../support/independent-service/addresses.ts";
import type { IndependentService } from "../../../support/independent-service/service.ts";
import type { IndependentRig } from "./rig.ts";

/** Texts by "body URL" or "table row". */
type Contents = Map<string, string>;

/** The first differences, and all problems of the mirror; empty for a correct mirror. */
export function differencesFromCatalogue(rig: IndependentRig): string[] {
  const { service } = rig;
  const { brands, models, sizes } = service.data;
  const expected = bodiesOf(service, "", [
    ["root"],
    ["brands"],
    ...brands.flatMap(({ id }): Named[] => [
      ["brand", id],
      ["models", id],
    ]),
    ...models.flatMap(({ id }): Named[] => [
      ["model", id],
      ["sizes", id],
    ]),
    ...sizes.map(({ id }): Named => ["size", id]),
  ]);
  for (const [name, table] of [
    ["brand", brands],
    ["model", models],
  ] as const) {
    for (const { id } of table) addRow(expected, service, "", name, id, {});
  }
  for (const { id, model } of sizes) addRow(expected, service, "", "size", id, { model });
  for (const { id, pictures } of models) {
    for (const [n, picture] of pictures.entries())
      expected.set(`picture ${n} of ${hrefOf(service, "model", id)}`, JSON.stringify(picture));
  }
  return differences(rig, expected, ["brand", "model", "size"]);
}

/** As `differencesFromCatalogue`, for the user with this index. */
export function differencesFromAccount(
  rig: IndependentRig,
  authorization: string,
  { user = 0, file = rig.file } = {},
): string[] {
  const { service } = rig;
  const userId = service.data.users[user]?.id;
  const bras = service.data.bras.filter((bra) => bra.user === userId);
  const measurements = service.data.measurements.filter((one) => one.user === userId);
  const isLinked = service.options.measurements === "linked";
  const expected = bodiesOf(service, authorization, [
    ...([["root"], ["me"], ["bras"], ["measurements"]] satisfies Named[]),
    ...bras.map(({ id }): Named => ["bra", id]),
    ...(isLinked ? measurements.map(({ id }): Named => ["measurement", id]) : []),
  ]);
  for (const { id, otherLabels } of bras) {
    addRow(expected, service, authorization, "bra", id, {});
    for (const [system, label] of Object.entries(otherLabels))
      expected.set(`label ${system} of ${hrefOf(service, "bra", id)}`, label);
  }
  for (const { name, centimetres } of measurements)
    expected.set(`measurement ${JSON.stringify({ day: name, ...centimetres, note: null })}`, "");
  return differences(rig, expected, ["bra"], file);
}

type Named = readonly [DocumentName, number?];

function hrefOf(service: IndependentService, document: DocumentName, id: number | undefined): string {
  const href = service.addresses.write({ document, ...(id === undefined ? {} : { id }) });
  return new URL(href, service.baseUrl).href;
}

/** The bodies of these documents, with all pages. */
function bodiesOf(service: IndependentService, authorization: string, names: readonly Named[]): Contents {
  const bodies: Contents = new Map();
  for (const [document, id] of names) {
    const address: Address = { document, ...(id === undefined ? {} : { id }) };
    let url: string | null | undefined = service.addresses.write(address);
    while (typeof url === "string") {
      const { href, pathname, search } = new URL(url, service.baseUrl);
      const { text } = service.read(pathname + search, authorization);
      bodies.set(`body ${href}`, text);
      url = (JSON.parse(text) as { meta?: { next?: string | null } }).meta?.next;
    }
  }
  return bodies;
}

/** Columns that the service did not send. */
const ownColumns = ["first_seen_at", "checked_at", "gone_at", "confirmed"];

function addRow(
  contents: Contents,
  service: IndependentService,
  authorization: string,
  document: DocumentName,
  id: number,
  { model }: { model?: number },
): void {
  const href = hrefOf(service, document, id);
  const { pathname, search } = new URL(href);
  const envelope = JSON.parse(service.read(pathname + search, authorization).text) as {
    body: Record<string, unknown>;
    links: Record<string, string>;
  };
  const { manufacturer_stock_pictures: _pictures, ...body } = envelope.body;
  const row: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    if (name === `${service.options.serviceName}_url`) row.service_url = value;
    else if (typeof value === "boolean") row[name] = Number(value);
    else row[name] = typeof value === "object" && value !== null ? JSON.stringify(value) : value;
  }
  const parents =
    document === "brand"
      ? []
      : document === "model"
        ? ["brand"]
        : document === "size"
          ? ["model"]
          : ["brand", "model", "size"];
  for (const name of parents) row[`${name}_href`] = new URL(envelope.links[name] ?? "", service.baseUrl).href;
  const brand = service.data.models.find((one) => one.id === model)?.brand;
  if (document === "size") row.brand_href = hrefOf(service, "brand", brand);
  contents.set(`${document} ${href}`, JSON.stringify(row));
}

function differences(
  rig: IndependentRig,
  expected: Contents,
  tables: readonly string[],
  file = rig.file,
): string[] {
  const held: Contents = new Map();
  const problems = rig.read((mirror) => {
    readBodies(mirror, held);
    for (const table of tables) readRows(mirror, table, expected, held);
    if (tables.includes("model")) readPictures(mirror, held);
    else readAccountLists(mirror, held);
    return checkMirror(mirror, kinds).problems;
  }, file);
  const found = [...new Set([...expected.keys(), ...held.keys()])]
    .filter((key) => expected.get(key) !== held.get(key))
    .map((key) => `${key} is ${held.get(key)} and should be ${expected.get(key)}`);
  return [...found.slice(0, 5), ...problems.map((problem) => JSON.stringify(problem))];
}

function readBodies(mirror: MirrorReader, held: Contents): void {
  const bodies = currentBodies(mirror);
  const select = mirror.db.prepare<[], string>("select url from _resource where state = 'held'").pluck();
  for (const url of select.all()) held.set(`body ${url}`, bodies.get(url) ?? "");
}

/** Reads the columns that the service sent, in its order; others are empty, or they are named too. */
function readRows(mirror: MirrorReader, table: string, expected: Contents, held: Contents): void {
  const rows = mirror.db
    .prepare<[], Record<string, unknown>>(`select * from ${table} where gone_at is null`)
    .all();
  for (const { href, ...row } of rows) {
    const key = `${table} ${href}`;
    const sent = JSON.parse(expected.get(key) ?? "{}") as Record<string, unknown>;
    const kept = Object.keys(sent).filter((name) => name in row);
    const others = Object.entries(row).filter(
      ([name, value]) => value !== null && !(name in sent) && !ownColumns.includes(name),
    );
    const cells = [...kept.map((name) => [name, row[name]]), ...others];
    held.set(key, JSON.stringify(Object.fromEntries(cells)));
    // Fields without a column are only in the body.
    if (expected.has(key))
      expected.set(key, JSON.stringify(Object.fromEntries(kept.map((name) => [name, sent[name]]))));
  }
}

function readPictures(mirror: MirrorReader, held: Contents): void {
  const select = mirror.db.prepare<[], { href: string; n: number; url: string; text: string }>(
    "select m.href, p.n, p.url, p.text from model_picture p join model m on m.href = p.model_href where m.gone_at is null",
  );
  for (const { href, n, ...picture } of select.all())
    held.set(`picture ${n} of ${href}`, JSON.stringify(picture));
}

function readAccountLists(mirror: MirrorReader, held: Contents): void {
  const labels = mirror.db.prepare<[], { bra_href: string; system: string; size: string }>(
    "select s.bra_href, s.system, s.size from bra_size s join bra b on b.href = s.bra_href where b.gone_at is null",
  );
  for (const { bra_href, system, size } of labels.all()) held.set(`label ${system} of ${bra_href}`, size);
  const measurements = mirror.db
    .prepare<[], string>("select payload from measurement where gone_at is null")
    .pluck();
  for (const payload of measurements.all()) held.set(`measurement ${payload}`, "");
}
