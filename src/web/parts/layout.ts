/** The frame of every page: head, navigation, search box, the control of the point in time, and the footer. */
import { html } from "hono/html";
import { describeNearerPruned } from "../../mirror/points/pruned-runs.ts";
import type { EndedRun } from "../../mirror/points/resolve-point.ts";
import { formatMinute } from "../../presentation/times.ts";
import { assets } from "../assets/assets.ts";
import type { Html } from "../page.ts";
import { pointField } from "./point-field.ts";
import { timeOf } from "./values.ts";

interface ShownRun extends EndedRun {
  /** Whose run it is. */
  readonly owner: Html | string;
  /** Pruned runs that were nearer to the point that was asked for. */
  readonly prunedLater: number;
}

export interface Frame {
  readonly title: string;
  readonly body: Html;
  readonly navigation: readonly { readonly path: string; readonly label: string; readonly href: string }[];
  readonly path: string;
  readonly query: URLSearchParams;
  /** The run whose state is shown; null for the present. */
  readonly asOf: ShownRun | null;
  /** The newest ended runs, to choose from. */
  readonly points: readonly EndedRun[];
  /** The address of this page with the present state; null if the server shows only an earlier one. */
  readonly presentHref: string | null;
  /** Keeps the point in time. */
  readonly link: (path: string) => string;
  /** Such as `api.example.org`; null without a mirror. */
  readonly service: string | null;
  /** The addresses of the same rows in other formats. */
  readonly downloads: readonly { readonly label: string; readonly href: string }[];
}

/** Browsers wait for the end of the page before they draw it: the columns of a table would move with each row that arrives. */
export function layout(frame: Frame): Html {
  const { title, body, navigation, path, asOf, service, link } = frame;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title === "" ? "Armoire" : `${title} · Armoire`}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="expect" href="#end-of-page" blocking="render">
<link rel="icon" type="image/svg+xml" href="${assets.icon.path}">
<link rel="stylesheet" href="${assets.style.path}">
<script src="${assets.script.path}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div class="bar">
<a class="mark" href="${link("/")}">Armoire</a>
<nav aria-label="Pages"><ul>${navigation.map(
    ({ path: target, label, href }) =>
      html`<li><a href="${href}"${isWithin(path, target) ? html` aria-current="page"` : ""}>${label}</a></li>`,
  )}</ul></nav>
${path === "/" || path === "/search" || navigation.length === 0 ? html`<span class="space"></span>` : smallSearch(frame)}
${service === null ? "" : pointControl(frame)}
</div></header>
${asOf === null ? "" : banner(asOf, frame.presentHref)}
<main id="main" tabindex="-1">
${body}
${downloadLinks(frame)}
</main>
${service === null ? "" : html`<footer class="bottom"><p>A mirror of <span class="code">${service}</span>. These pages send no requests to it.</p></footer>`}
<div id="end-of-page" hidden></div>
</body>
</html>
`;
}

function downloadLinks({ downloads }: Frame): Html | string {
  if (downloads.length === 0) return "";
  return html`<p class="downloads"><span>These rows as</span>${downloads.map(
    ({ label, href }) => html` <a href="${href}" download>${label}</a>`,
  )}</p>`;
}

/** Pages that belong to an entry of the navigation, besides those below its path. */
const belonging: Readonly<Record<string, readonly string[]>> = {
  "/brands": ["/brand"],
  "/changes": ["/compare"],
  "/questions": ["/sql", "/tables"],
  "/runs": ["/plan", "/schedules", "/operations"],
};

/** A list stays marked on the pages of its items: brands also on those of their models. */
function isWithin(path: string, target: string): boolean {
  const roots = [target, ...(belonging[target] ?? [])];
  return roots.some((root) => path === root || path.startsWith(`${root}/`));
}

function smallSearch({ link }: Frame): Html {
  return html`<form class="find" action="/search" role="search">
<input type="search" name="q" placeholder="Search" aria-label="Search brands and models" autocomplete="off" data-slash>
${pointField(link, "/search")}</form>`;
}

function pointControl({ path, query, asOf, points }: Frame): Html {
  const kept = [...query].filter(([name]) => name !== "as-of" && name !== "after");
  return html`<details class="point">
<summary><span class="visually-hidden">Point in time: </span>${asOf === null ? "Now" : `Run ${asOf.run}`}</summary>
<form action="${path}" class="panel">
${kept.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
<label for="as-of">Show the mirror as of</label>
<div class="row"><input id="as-of" name="as-of" value="${query.get("as-of") ?? ""}" placeholder="-7d" list="points" autocomplete="off" spellcheck="false">
<button>Show</button></div>
<p class="hint">A run such as 12, a time such as 2026-11-03, or -7d. Leave it empty for now.</p>
<datalist id="points">${points.map(({ run, endedAt }) => html`<option value="${run}">Run ${run}, ${formatMinute(endedAt)}</option>`)}</datalist>
</form></details>`;
}

function banner({ owner, run, endedAt, prunedLater }: ShownRun, presentHref: string | null): Html {
  return html`<aside class="banner" aria-label="Point in time"><p>You see <strong>the mirror as of run ${run} of ${owner}</strong>, which ended ${timeOf(endedAt)}${prunedLater === 0 ? "" : `; ${describeNearerPruned(prunedLater)}`}.
${presentHref === null ? "" : html`<a href="${presentHref}">Show it as it is now</a>`}</p></aside>`;
}
