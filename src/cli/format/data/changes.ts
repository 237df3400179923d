/** Formats changes for people: the two sides, one change after another, and totals. */
import {
  type Change,
  changeWords,
  type FieldChange,
  type Reported,
  type Totals,
  type Value,
} from "../../../change/change.ts";
import { isList, listDifference } from "../../../change/diff.ts";
import type { OpenDiff } from "../../../change/open-diff.ts";
import type { DiffSource, SourceLocation } from "../../../change/sources.ts";
import { formatSecond } from "../../terminal/format.ts";
import type { Line } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { displayWidth, truncate } from "../../terminal/table/display-width.ts";
import { readableChange, readableValue } from "./field-value.ts";

const indent = " ".repeat(12);

/** One line about the two sides. */
export function formatComparison({
  from,
  to,
  since,
}: Pick<OpenDiff<unknown>, "from" | "to" | "since">): string {
  if (from === null) return `Reported by the service since ${since}, in ${describePlace(to.place)}:\n`;
  if ("run" in from.place && from.place.run === 0)
    return `Observed by ${describePlace(to.place)}, with no earlier run to compare with:\n`;
  const isOneMirror = "mirror" in from.place && "mirror" in to.place && from.place.mirror === to.place.mirror;
  const [earlier, later] = [from, to].map(({ place }) => describePlace(place, !isOneMirror));
  return `Observed from ${earlier} to ${later}:\n`;
}

function describePlace(place: SourceLocation, hasFile = false): string {
  if ("folder" in place) return `the export ${escapeControls(place.folder)}`;
  const of = hasFile ? ` of ${escapeControls(place.mirror)}` : "";
  return `run ${place.run}${of}${place.endedAt === null ? "" : ` (${formatSecond(place.endedAt)})`}`;
}

/**
 * Formats one change after another, with a heading for each kind.
 * @param columns the width of the terminal; null to cut nothing
 */
export function changeFormatter(
  { to }: { readonly to: DiffSource },
  columns: number | null,
): (change: Change | Reported) => Line[] {
  let kind: string | null = null;
  return (change) => {
    const heading = change.kind === kind ? [] : [{ text: "" }, { text: change.kind }];
    kind = change.kind;
    const path = to.baseUrl === null ? change.href : change.href.replace(to.baseUrl, "");
    const name = columns === null ? escapeControls(change.name) : truncate(escapeControls(change.name), 34);
    const start = `  ${change.change.padEnd(8)}  ${name}${name === "" ? "" : "  "}`;
    const first = start + escapeControls(path);
    // Addresses are never cut, so that they can be copied.
    const fits = columns === null || displayWidth(first) <= columns;
    const head = fits ? [first] : [start.trimEnd(), indent + escapeControls(path)];
    const color = colors[change.change];
    const details = detailsOf(change, columns).map((line) => ({
      text: indent + line,
      color: line.startsWith(addedMark)
        ? colors.added
        : line.startsWith(removedMark)
          ? colors.removed
          : undefined,
    }));
    return [...heading, ...head.map((text) => ({ text, color })), ...details];
  };
}

const colors: Readonly<Partial<Record<(Change | Reported)["change"], Line["color"]>>> = {
  added: "green",
  revived: "green",
  removed: "red",
};

/** Lines without their indent. */
function detailsOf(change: Change | Reported, columns: number | null): string[] {
  if (change.change === "reported") return [`last_modified_at  ${escapeControls(change.lastModifiedAt)}`];
  if (change.change === "added") {
    const gone = change.row.gone_at ?? null;
    return gone === null ? [] : [`gone since ${escapeControls(readableValue(change.kind, "gone_at", gone))}`];
  }
  const room = columns === null ? null : columns - indent.length;
  return change.fields.flatMap((field) => formatField(readableChange(change.kind, field), room));
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

const addedMark = "  + ";
const removedMark = "  - ";

/** Entries are never cut: they may differ anywhere. */
function describeEntries(before: Value, after: Value): string[] {
  const { removed, added } = listDifference(before, after);
  const lines = [
    ...removed.map((entry) => `${removedMark}${escapeControls(entry)}`),
    ...added.map((entry) => `${addedMark}${escapeControls(entry)}`),
  ];
  return lines.length > 0 ? lines : ["  the same entries in another order"];
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
