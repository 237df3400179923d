/** Formats what belongs to a model for people: its sizes as a grid, its pictures and related models. */
import type { Cell } from "../../../../schema/fields.ts";
import { cupsOf } from "../../../../schema/views/size-label.ts";
import { describeListState, type ListState } from "../../../query/lists/list-state.ts";
import type { ModelParts, SizeOfModel } from "../../../query/model-parts.ts";
import type { Screen } from "../../terminal/io.ts";
import { escapeControls } from "../../terminal/safe-text.ts";
import { alignRows, formatTable } from "../../terminal/table/text-table.ts";

type Width = Pick<Screen, "columns"> | null;

export function formatModelParts(
  { brand, sizes, sizeList, pictures, related }: ModelParts,
  screen: Width,
): string {
  const system = typeof brand?.system === "string" ? brand.system : null;
  const current = sizes.filter(({ state }) => state !== "gone");
  return [
    current.length === 0 && sizes.length > 0
      ? `\nSizes: none any more; gone: ${sizes.map(({ size }) => escapeControls(size)).join(" ")}\n`
      : formatSizes(current, sizeList, system, screen),
    section(
      "Pictures",
      pictures.map(({ url, text }) => [text, url]),
    ),
    section(
      "Related models",
      related.map((other) => [
        other.name,
        [other.brand, other.model].filter((name) => name !== null).join(" › "),
        other.key ?? other.href,
      ]),
    ),
  ].join("");
}

/** Bands down, cups across. Sizes without a known band and cup are listed below. */
function formatSizes(
  sizes: readonly SizeOfModel[],
  list: ListState,
  system: string | null,
  screen: Width,
): string {
  const isRead = list === "complete";
  if (sizes.length === 0) return `\nSizes: ${isRead ? "none known" : "the list is not fetched yet"}\n`;
  const placed = sizes.filter(({ band, cup }) => band !== null && cup !== null);
  const others = sizes.filter((size) => !placed.includes(size));
  const order = (system === null ? null : cupsOf(system)) ?? [];
  const rank = (cup: string) => (order.includes(cup) ? order.indexOf(cup) : order.length);
  const cups = [...new Set(placed.map(({ cup }) => String(cup)))].sort(
    (a, b) => rank(a) - rank(b) || (a < b ? -1 : 1),
  );
  const bands = [...new Set(placed.map(({ band }) => String(band)))].sort((a, b) => Number(a) - Number(b));
  const rows = bands.map((band) => [
    Number(band),
    ...cups.map((cup) => cellOf(placed.filter((size) => String(size.band) === band && size.cup === cup))),
  ]);
  const unit = system === null ? "" : `, ${escapeControls(system)}`;
  const grid =
    rows.length === 0
      ? "\nSizes:\n"
      : `\nSizes (bras that users own of each${unit}):\n${formatTable(["band", ...cups], rows, screen)}`;
  const labels = (state: string) =>
    others
      .filter((size) => size.state === state)
      .map(({ size }) => escapeControls(size))
      .join(" ");
  return [
    grid,
    labels("held") === "" ? "" : `Without band and cup: ${labels("held")}\n`,
    labels("listed") === "" ? "" : `Not fetched yet: ${labels("listed")}\n`,
    isRead ? "" : `${describeListState(list, "sizes", sizes.length)}\n`,
  ].join("");
}

/** Two sizes may have the same band and cup. */
function cellOf(sizes: readonly SizeOfModel[]): Cell {
  const [first = null, ...others] = sizes;
  // A column of numbers is right-aligned.
  if (others.length === 0 && typeof first?.bra_count !== "string")
    return first === null ? null : (first.bra_count ?? "?");
  return sizes.map(({ bra_count }) => (bra_count === null ? "?" : escapeControls(bra_count))).join(", ");
}

function section(title: string, rows: readonly (readonly unknown[])[]): string {
  return rows.length === 0 ? "" : `\n${title}:\n${alignRows(rows, "  ")}`;
}
