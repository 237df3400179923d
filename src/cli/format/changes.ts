/** Prints a diff while it is read, without collecting it. */
import type { Row as CsvRow } from "../../../exports/table.ts";
import {
  type Change,
  changeWords,
  count,
  type FieldChange,
  type Reported,
  type Row,
  type Totals,
  type Value,
} from "../../change/change.ts";
import { isList } from "../../change/diff.ts";
import type { OpenDiff } from "../../change/open-diff.ts";
import type { DiffSource, SourceLocation } from "../../change/sources.ts";
import { toJson } from "../terminal/format.ts";
import type { Io } from "../terminal/io.ts";
import { displayWidth, escapeControls, truncate } from "../terminal/text-table.ts";
import type { ResultFormat } from "./result.ts";

interface ChangeText {
  readonly head: string;
  add(change: Change | Reported): string;
  tail(totals: Totals): string;
}

/**
 * @param about members that the JSON document begins with
 * @returns the number of changes by kind
 */
export async function printChanges(
  opened: OpenDiff<Change | Reported>,
  format: ResultFormat,
  { out: write, outColumns }: Pick<Io, "out" | "outColumns">,
  about: Readonly<Record<string, unknown>> = {},
): Promise<Totals> {
  const text = format === "table" ? tableText(opened, outColumns) : await texts[format](opened, about);
  const totals: Totals = {};
  let pending = text.head;
  for (const change of opened.changes) {
    count(totals, change);
    pending += text.add(change);
    if (pending.length < writtenAtOnce) continue;
    await write(pending);
    pending = "";
  }
  await write(pending + text.tail(totals));
  return totals;
}

const writtenAtOnce = 32_768;

type TextMaker = (
  opened: OpenDiff<unknown>,
  about: Readonly<Record<string, unknown>>,
) => ChangeText | Promise<ChangeText>;

function tableText(opened: OpenDiff<unknown>, columns: number | null): ChangeText {
  return {
    head: formatComparison(opened),
    add: changeFormatter(opened, columns),
    tail: (totals) => formatTotals(totals, opened.since !== null),
  };
}

const texts: Readonly<Record<Exclude<ResultFormat, "table">, TextMaker>> = {
  json({ from, to, since, notCompared }, about) {
    const notion =
      from === null
        ? { notion: "reported", since, to: to.place }
        : { notion: "observed", from: from.place, to: to.place, notCompared };
    let separator = "\n";
    return {
      head: `${toJson({ ...about, ...notion }).slice(0, -1)},"changes":[`,
      add(change) {
        const line = separator + toJson(change);
        separator = ",\n";
        return line;
      },
      tail: (totals) => `\n],"totals":${toJson(totals)}}\n`,
    };
  },
  ndjson: () => ({ head: "", add: (change) => `${toJson(change)}\n`, tail: () => "" }),
  async csv() {
    const { csvText } = await import("../../../exports/csv.ts");
    const { head, addRows, tail } = csvText(changeColumns, { raw: false });
    return { head, add: (change) => addRows(rowsOf(change)), tail: () => tail };
  },
};

export const changeColumns = ["kind", "href", "name", "change", "field", "before", "after"];

/** One row per changed field. An added or removed resource has a row per value, and `gone_at` if it is gone. */
export function rowsOf(change: Change | Reported): CsvRow[] {
  const { kind, href, name, change: word } = change;
  const toRow = (field: string, before: Value, after: Value): CsvRow => [
    kind,
    href,
    toCell(name),
    word,
    field,
    toCell(before),
    toCell(after),
  ];
  switch (change.change) {
    case "reported":
      return [toRow("last_modified_at", null, change.lastModifiedAt)];
    case "added":
      return valuesOf(change.row).map(([field, value]) => toRow(field, null, value));
    case "removed": {
      const { gone_at: goneAt = null, ...last } = change.row;
      const before = Object.fromEntries(change.fields.map((field) => [field.field, field.before]));
      const rows = valuesOf({ ...last, ...before }).map(([field, value]) => toRow(field, value, null));
      return goneAt === null ? rows : [...rows, toRow("gone_at", null, goneAt)];
    }
    default: {
      const rows = change.fields.map(({ field, before, after }) => toRow(field, before, after));
      return change.change === "revived" ? [...rows, toRow("gone_at", change.goneAt, null)] : rows;
    }
  }
}

function valuesOf(row: Row): [string, Value][] {
  return Object.entries(row).filter(([field, value]) => field !== "href" && value !== null);
}

function toCell(value: Value) {
  return isList(value) ? toJson(value) : value;
}

const indent = " ".repeat(12);

/** One line about the two sides. */
export function formatComparison({
  from,
  to,
  since,
}: Pick<OpenDiff<unknown>, "from" | "to" | "since">): string {
  if (from === null) return `Reported by the service since ${since}, in ${describePlace(to.place)}:\n`;
  const isOneMirror = "mirror" in from.place && "mirror" in to.place && from.place.mirror === to.place.mirror;
  const [earlier, later] = [from, to].map(({ place }) => describePlace(place, !isOneMirror));
  return `Observed from ${earlier} to ${later}:\n`;
}

function describePlace(place: SourceLocation, hasFile = false): string {
  if ("folder" in place) return `the export ${escapeControls(place.folder)}`;
  const of = hasFile ? ` of ${escapeControls(place.mirror)}` : "";
  return place.run === 0 ? "nothing" : `run ${place.run}${of} (${place.endedAt})`;
}

/**
 * Formats one change after another, with a heading for each kind.
 * @param columns the width of the terminal; null to cut nothing
 */
export function changeFormatter(
  { to }: { readonly to: DiffSource },
  columns: number | null,
): (change: Change | Reported) => string {
  let kind: string | null = null;
  return (change) => {
    const heading = change.kind === kind ? "" : `\n${change.kind}\n`;
    kind = change.kind;
    const path = to.baseUrl === null ? change.href : change.href.replace(to.baseUrl, "");
    const name = columns === null ? escapeControls(change.name) : truncate(escapeControls(change.name), 34);
    const start = `  ${change.change.padEnd(8)}  ${name}${name === "" ? "" : "  "}`;
    const first = start + escapeControls(path);
    // Addresses are never cut, so that they can be copied.
    const fits = columns === null || displayWidth(first) <= columns;
    const head = fits ? [first] : [start.trimEnd(), indent + escapeControls(path)];
    const lines = [...head, ...detailsOf(change, columns)];
    return heading + lines.map((line) => `${line}\n`).join("");
  };
}

function detailsOf(change: Change | Reported, columns: number | null): string[] {
  if (change.change === "reported")
    return [`${indent}last_modified_at  ${escapeControls(change.lastModifiedAt)}`];
  if (change.change === "added") {
    const gone = change.row.gone_at ?? null;
    return gone === null ? [] : [`${indent}gone since ${escapeControls(gone)}`];
  }
  const room = columns === null ? null : columns - indent.length;
  return change.fields.flatMap((field) => formatField(field, room).map((line) => indent + line));
}

const touchedNote = " (only last_modified_at)";

/** The number of changes of each kind. */
export function formatTotals(totals: Totals, isReported: boolean): string {
  const lines = Object.entries(totals).map(([kind, counts]) => {
    const parts = [...changeWords, "reported" as const].flatMap((change) => {
      const count = counts[change];
      return count === undefined ? [] : [`${count} ${change}${change === "touched" ? touchedNote : ""}`];
    });
    return `${kind}: ${parts.join(", ")}\n`;
  });
  if (lines.length > 0) return `\n${lines.join("")}`;
  return isReported ? "No changes.\n" : "No differences.\n";
}

/**
 * One line with both values, or for a list one line per added or removed entry.
 * @param columns the width for values that are no lists; null to cut nothing
 */
export function formatField({ field, before, after }: FieldChange, columns: number | null): string[] {
  if (isList(before) || isList(after)) return [field, ...describeEntries(before, after)];
  const [one, other] = [shown(before), shown(after)];
  const room = columns === null ? null : Math.floor((columns - field.length - 5) / 2);
  const [was, is] = room === null ? [one, other] : cutBoth(one, other, room);
  return [`${field}  ${was} → ${is}`];
}

/** Entries are never cut: they may differ anywhere. */
function describeEntries(before: Value, after: Value): string[] {
  const [earlier, later] = [before, after].map((value) =>
    isList(value) ? value.map((entry) => toJson(entry)) : [],
  );
  const removed = without(earlier ?? [], later ?? []).map((entry) => `  - ${escapeControls(entry)}`);
  const added = without(later ?? [], earlier ?? []).map((entry) => `  + ${escapeControls(entry)}`);
  const lines = [...removed, ...added];
  return lines.length > 0 ? lines : ["  the same entries in another order"];
}

/** Multiset difference: each other entry removes one equal entry. */
function without(entries: readonly string[], others: readonly string[]): string[] {
  const unmatched = [...others];
  return entries.filter((entry) => {
    const at = unmatched.indexOf(entry);
    if (at >= 0) unmatched.splice(at, 1);
    return at < 0;
  });
}

function shown(value: Value): string {
  return value === null ? "null" : escapeControls(value);
}

const context = 8;

/** Cuts two values so that their first difference stays visible. */
function cutBoth(one: string, other: string, room: number): readonly [string, string] {
  if (displayWidth(one) + displayWidth(other) <= 2 * room) return [one, other];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - context);
  const cut = (text: string) => truncate(from === 0 ? text : `…${text.slice(from)}`, room);
  return [cut(one), cut(other)];
}
