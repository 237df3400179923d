/** Prints a diff in the requested format, while it is read. `changes.ts` has the text for people. */

import type { CsvProfile } from "../../../../exports/formats/csv.ts";
import { writePlainSlice } from "../../../../exports/formats/escaped-text.ts";
import { toJson } from "../../../../exports/formats/json.ts";
import { type Change, count, type Reported, type Totals } from "../../../change/change.ts";
import type { Keyed } from "../../../change/keys.ts";
import { changeColumns, rowsOf } from "../../../change/log/change-rows.ts";
import type { OpenDiff } from "../../../change/open-diff.ts";
import { toJsonLine } from "../../terminal/format.ts";
import { type Io, printText, type Screen, toLines } from "../../terminal/io.ts";
import { wrapLines } from "../../terminal/wrap.ts";
import { changeFormatter, formatComparison, formatTotals } from "./changes.ts";
import { type ResultFormat, writerOf } from "./result.ts";

interface ChangeText {
  readonly head: string;
  add(change: Keyed<Change | Reported>): string;
  tail(totals: Totals): string;
}

/**
 * @param options.about members that the JSON document begins with
 * @param options.csv default: guarded
 * @returns the number of changes by kind; those of the printed ones if the reader stops
 */
export async function printChanges(
  opened: OpenDiff<Keyed<Change | Reported>>,
  format: ResultFormat,
  { out, screen, hasReader }: Pick<Io, "out" | "screen" | "hasReader">,
  options: TextOptions = {},
): Promise<Totals> {
  if (format === "table" && screen !== null) return await printToScreen(opened, screen);
  const text = format === "table" ? tableText(opened) : await texts[format](opened, options);
  const write = writerOf(format, out);
  const totals: Totals = {};
  let pending = text.head;
  for (const change of opened.changes) {
    count(totals, change);
    pending += text.add(change);
    if (pending.length < writtenAtOnce) continue;
    await write(pending);
    if (!hasReader()) return totals;
    pending = "";
  }
  await write(pending + text.tail(totals));
  return totals;
}

/** As `printChanges`, but only the number of changes by kind. */
export async function printTotals(
  opened: OpenDiff<Keyed<Change | Reported>>,
  format: "table" | "json",
  io: Io,
): Promise<Totals> {
  const totals: Totals = {};
  for (const change of opened.changes) count(totals, change);
  if (format === "json") await io.out(toJsonLine({ ...describePoints(opened), totals }));
  else await printText(io, formatComparison(opened) + formatTotals(totals, opened.since !== null));
  return totals;
}

/** What was compared, for JSON. */
function describePoints({ from, to, since, notCompared }: OpenDiff<unknown>) {
  return from === null
    ? { notion: "reported", since, to: to.place }
    : { notion: "observed", from: from.place, to: to.place, notCompared };
}

const writtenAtOnce = 32_768;

interface TextOptions {
  readonly about?: Readonly<Record<string, unknown>>;
  readonly csv?: CsvProfile;
}

type TextMaker = (opened: OpenDiff<unknown>, options: TextOptions) => ChangeText | Promise<ChangeText>;

/** Within the width of the terminal, in color, and in a pager if it is long. */
async function printToScreen(opened: OpenDiff<Keyed<Change | Reported>>, screen: Screen): Promise<Totals> {
  const totals: Totals = {};
  const format = changeFormatter(opened, screen.columns);
  const lines = toLines(wrapLines(formatComparison(opened), screen.columns));
  for (const change of opened.changes) {
    count(totals, change);
    lines.push(...format(change));
  }
  await screen.print([...lines, ...toLines(formatTotals(totals, opened.since !== null))]);
  return totals;
}

function tableText(opened: OpenDiff<unknown>): ChangeText {
  const format = changeFormatter(opened, null);
  return {
    head: formatComparison(opened),
    add: (change) =>
      format(change)
        .map(({ text }) => `${text}\n`)
        .join(""),
    tail: (totals) => formatTotals(totals, opened.since !== null),
  };
}

const texts: Readonly<Record<Exclude<ResultFormat, "table">, TextMaker>> = {
  json(opened, { about }) {
    let separator = "\n";
    return {
      head: `${toJson({ ...about, ...describePoints(opened) }).slice(0, -1)},"changes":[`,
      add(change) {
        const line = separator + toJson(change);
        separator = ",\n";
        return line;
      },
      tail: (totals) =>
        `\n],${opened.from === null ? `"withoutTime":${opened.withoutTime},` : ""}"totals":${toJson(totals)}}\n`,
    };
  },
  ndjson: () => ({ head: "", add: (change) => `${toJson(change)}\n`, tail: () => "" }),
  async csv(_, { csv = "guarded" }) {
    const { csvText } = await import("../../../../exports/formats/csv.ts");
    const { head, addRows, tail } = csvText(changeColumns, csv, { write: writePlainSlice });
    const add: ChangeText["add"] = (change) => [...addRows(rowsOf(change))].join("");
    return { head, add, tail: () => tail };
  },
};
