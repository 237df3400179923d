/** Changes in words, a group of lines each: what it is, then field by field. */
import { type Change, changeWords, type Reported, type Totals } from "../../change/change.ts";
import type { OpenDiff } from "../../change/open-diff.ts";
import type { Place, State } from "../../change/state.ts";
import { cutTo, toShown, widthOf } from "../terminal/text-table.ts";
import { describeField } from "./describe-values.ts";

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

/**
 * Says each change, with its kind before the first of it.
 * @param columns of the terminal that it is for; null where it is for none, and nothing is cut
 */
export function changeDescriber(
  { to }: { readonly to: State },
  columns: number | null,
): (change: Change | Reported) => string {
  let kind: string | null = null;
  return (change) => {
    const heading = change.kind === kind ? "" : `\n${change.kind}\n`;
    kind = change.kind;
    const path = to.baseUrl === null ? change.href : change.href.replace(to.baseUrl, "");
    const name = columns === null ? toShown(change.name) : cutTo(toShown(change.name), 34);
    const start = `  ${change.change.padEnd(8)}  ${name}${name === "" ? "" : "  "}`;
    const first = start + toShown(path);
    // An address is for copying: never cut.
    const fits = columns === null || widthOf(first) <= columns;
    const head = fits ? [first] : [start.trimEnd(), indent + toShown(path)];
    const lines = [...head, ...detailsOf(change, columns)];
    return heading + lines.map((line) => `${line}\n`).join("");
  };
}

function detailsOf(change: Change | Reported, columns: number | null): string[] {
  if (change.change === "reported") return [`${indent}last_modified_at  ${toShown(change.lastModifiedAt)}`];
  if (change.change === "added") {
    const gone = change.row.gone_at ?? null;
    return gone === null ? [] : [`${indent}gone again since ${toShown(gone)}`];
  }
  const room = columns === null ? null : columns - indent.length;
  return change.fields.flatMap((field) => describeField(field, room).map((line) => indent + line));
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
