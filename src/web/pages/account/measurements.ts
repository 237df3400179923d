/** `/me/measurements`: the measurements of an account over time. */
import { html } from "hono/html";
import type { Page } from "../../page.ts";
import { measurementFigures, measurementTable } from "../../parts/wardrobe/measurements.ts";
import { accountHeading, wardrobeOf } from "./account-view.ts";

export const measurementsPage: Page = {
  path: "/me/measurements",
  area: "account",
  render(view) {
    const wardrobe = wardrobeOf(view);
    const body = html`${accountHeading(view, wardrobe)}
${measurementFigures(wardrobe.measurements)}
${measurementTable(wardrobe.measurements)}`;
    return { title: "Measurements", body };
  },
  rows(view) {
    const { columns, rows } = wardrobeOf(view).measurements;
    return { name: "measurements", from: ["measurement"], columns, rows: () => rows };
  },
};
