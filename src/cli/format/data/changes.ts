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
import type { Keyed } from "../../../change/keys.ts";
import type { OpenDiff } from "../../../change/open-diff.ts";
import type { DiffSource, SourceLocation } from "../../../change/sources.ts";
import { formatSecond } from "../../../presentation/times.ts";
import { readableChange, readableValue } from "../../../presentation/words.ts";
import { type Line, toLines } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { displayWidth } from "../../terminal/table/display-width.ts";
import { wrapLines } from "../../terminal/wrap.ts";

const indent = " ".repeat(12);

/** One line about the two sides. */
export function formatComparison({
  from,
  to,
  since,
}: Pick<OpenDiff<unknown>, "from" | "to" | "since">): string {
  if (from === null)
    return `Reported by the service since ${since?.slice(0, 19).replace("T", " ")}, in ${describePlace(to.place)}:\n`;
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
 * @param columns the width of the terminal; null for lines of any length
 */
export function changeFormatter(
  { to }: { readonly to: DiffSource },
  columns: number | null,
): (change: Keyed<Change | Reported>) => Line[] {
  let kind: string | null = null;
  return (change) => {
    const heading = change.kind === kind ? [] : [{ text: "" }, { text: change.kind }];
    kind = change.kind;
    const path = change.key ?? (to.baseUrl === null ? change.href : change.href.replace(to.baseUrl, ""));
    const names = [change.brand, change.model, change.name].filter((name) => name !== null && name !== "");
    const name = names.map((part) => escapeControls(part)).join(" › ");
    const start = `  ${change.change.padEnd(8)}  ${name}${name === "" ? "" : "  "}`;
    const first = start + escapeControls(path);
    const fits = columns === null || displayWidth(first) <= columns;
    const head = fits ? [first] : [start.trimEnd(), indent + escapeControls(path)];
    const lines = (line: string, color: Line["color"]): Line[] =>
      columns === null ? [{ text: line, color }] : toLines(wrapLines(line, columns), color);
    return [
      ...heading,
      ...head.flatMap((line) => lines(line, colors[change.change])),
      ...detailsOf(change, columns).flatMap((line) => lines(indent + line, colorOf(line))),
    ];
  };
}

function colorOf(detail: string): Line["color"] {
  if (detail.startsWith(addedMark)) return colors.added;
  return detail.startsWith(removedMark) ? colors.removed : undefined;
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
 * One line with both values, or a line for each if they do not fit; for a list one line per added or removed entry.
 * Nothing is cut: values may differ anywhere.
 * @param columns the width; null for one line in any case
 */
function formatField({ field, before, after }: FieldChange, columns: number | null): string[] {
  if (isList(before) || isList(after)) return [field, ...describeEntries(before, after)];
  const [was, is] = [shown(before), shown(after)];
  const line = `${field}  ${was} → ${is}`;
  return columns === null || displayWidth(line) <= columns
    ? [line]
    : [field, `${removedMark}${was}`, `${addedMark}${is}`];
}

const addedMark = "  + ";
const removedMark = "  - ";

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
