/** Links between the pages of one entry of the navigation. A page below one of them belongs to it. */
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
  const tabs = Object.entries({ ...sections[section], ...added });
  const [current] = tabs
    .map(([path]) => path)
    .filter((path) => view.path === path || view.path.startsWith(`${path}/`))
    .sort((a, b) => b.length - a.length);
  return html`<nav class="tabs" aria-label="Pages of this section"><ul>${tabs.map(
    ([path, label]) =>
      html`<li><a href="${view.link(path)}"${path === current ? html` aria-current="${path === view.path ? "page" : "true"}"` : ""}>${label}</a></li>`,
  )}</ul></nav>`;
}
