/** `/me/dimensions`: all bras with their dimensions, as a table that sorts. */
import { html } from "hono/html";
import type { Cell } from "../../../../schema/fields.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { type Bra, dimensions } from "../../../query/lists/wardrobe.ts";
import { toNumber } from "../../charts/answer-charts.ts";
import type { Page, View } from "../../page.ts";
import type { Sorting } from "../../parts/lists/table.ts";
import { headingOf } from "../../parts/resource/field-changes.ts";
import { empty } from "../../parts/states.ts";
import { dimensionTable } from "../../parts/wardrobe/dimensions.ts";
import { accountHeading, addressesIn, dimensionRows, wardrobeOf } from "./account-view.ts";

const sorts = ["name", "size", ...dimensions];

export const dimensionsPage: Page = {
  path: "/me/dimensions",
  area: "account",
  render(view) {
    const wardrobe = wardrobeOf(view);
    const bras = sorted(wardrobe.bras, orderIn(view));
    const body = html`${accountHeading(view, wardrobe)}
${
  bras.length === 0
    ? empty("No bras are held.")
    : html`<p class="hint">${formatCount(bras.length, "bra")}, in centimetres${describeOrder(view)}. The least (min) and the most (max) of each column are marked; a heading sorts by its column. The cup separation is the width of the gore.</p>
${dimensionTable(bras, addressesIn(view).hrefOf, sortingIn(view))}`
}`;
    return { title: "Dimensions", body };
  },
  rows: (view) => ({
    name: "dimensions",
    from: ["bra"],
    ...dimensionRows(sorted(wardrobeOf(view).bras, orderIn(view))),
  }),
};

interface Order {
  readonly sort: string;
  readonly isDescending: boolean;
}

function orderIn({ query }: View): Order {
  const sort = query.get("sort") ?? "";
  return { sort: sorts.includes(sort) ? sort : "name", isDescending: query.get("order") === "desc" };
}

/** On a narrow screen, the column is out of sight. */
function describeOrder(view: View): string {
  const { sort, isDescending } = orderIn(view);
  if (!view.query.has("sort")) return "";
  return `, by ${headingOf(sort).toLowerCase()}, the ${isDescending ? "most" : "least"} first`;
}

const sortingIn = (view: View): Sorting => ({
  ...orderIn(view),
  hrefOf: (sort, isDescending) => view.link(view.path, { sort, order: isDescending ? "desc" : null }),
});

/** Bras without a value come last in both orders. */
function sorted(bras: readonly Bra[], { sort, isDescending }: Order): Bra[] {
  const cellOf = ({ fields }: Bra): Cell => fields[sort] ?? null;
  const sign = isDescending ? -1 : 1;
  return bras.toSorted((a, b) => {
    const [x, y] = [cellOf(a), cellOf(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const [p, q] = [toNumber(x), toNumber(y)];
    if (p !== null && q !== null) return sign * (p - q);
    return sign * String(x).localeCompare(String(y), "en", { numeric: true });
  });
}
