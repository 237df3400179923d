/** Changes in words, a group of lines each: what it is, then field by field, in 80 columns. */
import { type Change, changeWords, type Reported, type Totals, type Value } from "../change/change.ts";
import type { OpenDiff } from "../change/open-diff.ts";
import type { Place, State } from "../change/state.ts";
import { isList } from "../change/values.ts";
import { cutTo, toShown, widthOf } from "./text-table.ts";
import { toJson } from "./to-json.ts";

const columns = 80;
const indent = " ".repeat(12);

/** What is compared, in one line. */
export function describeComparison({
  from,
  to,
  since,
}: Pick<OpenDiff<unknown>, "from" | "to" | "since">): string {
  if (from === null)
    return `Reported by the service since ${since}, as held at ${describePlace(to.place)}:\n`;
  const isOneMirror = "mirror" in from.place && "mirror" in to.place && from.place.mirror === to.place.mirror;
  const [one, other] = [from, to].map(({ place }) => describePlace(place, !isOneMirror));
  return `Observed from ${one} to ${other}:\n`;
}

function describePlace(place: Place, hasFile = false): string {
  if ("folder" in place) return `the export ${toShown(place.folder)}`;
  const of = hasFile ? ` of ${toShown(place.mirror)}` : "";
  return place.run === 0 ? "nothing" : `run ${place.run}${of} (${place.endedAt})`;
}

/** Says each change, with its kind before the first of it. */
export function changeDescriber({ to }: { readonly to: State }): (change: Change | Reported) => string {
  let kind: string | null = null;
  return (change) => {
    const heading = change.kind === kind ? "" : `\n${change.kind}\n`;
    kind = change.kind;
    const path = to.baseUrl === null ? change.href : change.href.replace(to.baseUrl, "");
    const name = cutTo(toShown(change.name), 34);
    const start = `  ${change.change.padEnd(8)}  ${name}${name === "" ? "" : "  "}`;
    const lines = [start + cutTo(toShown(path), columns - widthOf(start)), ...detailsOf(change)];
    return heading + lines.map((line) => `${line}\n`).join("");
  };
}

function detailsOf(change: Change | Reported): string[] {
  if (change.change === "reported") return [`${indent}last_modified_at  ${toShown(change.lastModifiedAt)}`];
  if (change.change === "added") {
    const gone = change.row.gone_at ?? null;
    return gone === null ? [] : [`${indent}gone again since ${toShown(gone)}`];
  }
  return change.fields.map(({ field, before, after }) => {
    const room = columns - indent.length - field.length - 5;
    const [was, is] = cutBoth(shown(before), shown(after), Math.floor(room / 2));
    return `${indent}${field}  ${was} → ${is}`;
  });
}

function shown(value: Value): string {
  if (value === null) return "null";
  return toShown(isList(value) ? toJson(value) : value);
}

const context = 8;

/** Cuts two values so that where they begin to differ can be seen. */
function cutBoth(one: string, other: string, room: number): readonly [string, string] {
  if (widthOf(one) + widthOf(other) <= 2 * room) return [one, other];
  let same = 0;
  while (same < one.length && one[same] === other[same]) same++;
  const from = Math.max(0, same - context);
  const cut = (text: string) => cutTo(from === 0 ? text : `…${text.slice(from)}`, room);
  return [cut(one), cut(other)];
}

const touchedMeans = " (only last_modified_at)";

/** How many changes of each kind, or that there are none. */
export function describeTotals(totals: Totals, isReported: boolean): string {
  const lines = Object.entries(totals).map(([kind, counts]) => {
    const parts = [...changeWords, "reported" as const].flatMap((change) => {
      const count = counts[change];
      return count === undefined ? [] : [`${count} ${change}${change === "touched" ? touchedMeans : ""}`];
    });
    return `${kind}: ${parts.join(", ")}\n`;
  });
  if (lines.length > 0) return `\n${lines.join("")}`;
  return isReported ? "Nothing.\n" : "No differences.\n";
}
