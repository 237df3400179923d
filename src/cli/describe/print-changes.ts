/** Printing a diff as it is read: nothing of it is gathered. */
import { type Change, count, type Reported, type Totals } from "../../change/change.ts";
import type { OpenDiff } from "../../change/open-diff.ts";
import type { Io } from "../terminal/io.ts";
import { toJson } from "../terminal/to-json.ts";
import { changeColumns, rowsOf } from "./change-rows.ts";
import { changeDescriber, describeComparison, describeTotals } from "./describe-changes.ts";
import type { ResultFormat } from "./print-result.ts";

interface ChangeText {
  readonly head: string;
  add(change: Change | Reported): string;
  tail(totals: Totals): string;
}

/**
 * @param about goes into the JSON document before the rest
 * @returns how many of each there were
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
    head: describeComparison(opened),
    add: changeDescriber(opened, columns),
    tail: (totals) => describeTotals(totals, opened.since !== null),
  };
}

const texts: Readonly<Record<Exclude<ResultFormat, "table">, TextMaker>> = {
  json({ from, to, since, leftOut }, about) {
    const notion =
      from === null
        ? { notion: "reported", since, to: to.place }
        : { notion: "observed", from: from.place, to: to.place, leftOut };
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
