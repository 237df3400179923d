/** Links between the pages of one entry of the navigation. */
import { html } from "hono/html";
import type { Html, View } from "../page.ts";

const sections = {
  changes: { "/changes": "By run", "/compare": "Any two points" },
  questions: { "/questions": "Questions", "/sql": "SQL", "/tables": "Tables" },
  account: { "/me": "Gallery", "/me/dimensions": "Dimensions", "/me/measurements": "Measurements" },
  runs: { "/runs": "Runs", "/plan": "Plan", "/schedules": "Schedules" },
} as const;
/** With a Redis. */
const shared = { runs: { "/operations": "Operations", "/queues": "Queues" } } as const;

export function sectionTabs(
  view: Pick<View, "link" | "path" | "redis">,
  section: keyof typeof sections,
): Html {
  const added = section === "runs" && view.redis !== null ? shared.runs : {};
  return html`<nav class="tabs" aria-label="Pages of this section"><ul>${Object.entries({
    ...sections[section],
    ...added,
  }).map(
    ([path, label]) =>
      html`<li><a href="${view.link(path)}"${path === view.path ? html` aria-current="page"` : ""}>${label}</a></li>`,
  )}</ul></nav>`;
}
