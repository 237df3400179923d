/** The point in time of a page, kept by a form that leads to another page. */
import { html } from "hono/html";
import type { Html } from "../page.ts";

/** @param link of the page: it decides whether the point is kept there @param action the path that the form leads to */
export function pointField(link: (path: string) => string, action: string): Html | string {
  const point = new URL(link(action), "http://here.invalid").searchParams.get("as-of");
  return point === null ? "" : html`<input type="hidden" name="as-of" value="${point}">`;
}
