/** The form that takes the key, the cookie of a session, and the refusal of pages without one. */
import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import type { Html } from "../page.ts";
import { layout } from "../parts/layout.ts";
import { sessionPath } from "../security.ts";
import type { Sessions } from "./sessions.ts";

export interface SessionOptions {
  readonly sessions: Sessions;
  /** Whether all pages need the key. */
  readonly needsKey: boolean;
  /** Names the port: browsers share cookies between the ports of a host. */
  readonly cookieName: () => string;
}

const maxFormBytes = 4096;

/** By the status of the response. The script shows the form again with that status. */
const refusals = {
  "403": "This is not the key of this server. Each start of the server prints a new one.",
  "429": "Too many wrong keys were sent. Wait a few seconds.",
} as const;

/** Lets pages of an account through to those who have the key. */
export interface PageSessions {
  has(context: Context): boolean;
  /** The form that takes the key. */
  refuse(context: Context): Response | Promise<Response>;
}

/** Adds the route that takes the key and, where all pages need it, their refusal. */
export function serveSessions(app: Hono, { sessions, needsKey, cookieName }: SessionOptions): PageSessions {
  app.post(sessionPath, bodyLimit({ maxSize: maxFormBytes }), async (context) => {
    const { key, next } = await context.req.parseBody();
    const token = await sessions.open(typeof key === "string" ? key.trim() : "");
    if (token === "busy") {
      context.header("retry-after", "8");
      return showForm(context, refusals["429"], pathIn(next), 429);
    }
    if (token === null) return showForm(context, refusals["403"], pathIn(next), 403);
    setCookie(context, cookieName(), token, { path: "/", httpOnly: true, sameSite: "Strict" });
    return context.redirect(pathIn(next), 303);
  });
  app.get(sessionPath, (context) => {
    context.header("cache-control", "no-store");
    const refused = Object.entries(refusals).find(([status]) => status === context.req.query("refused"));
    return showForm(context, refused?.[1] ?? null, pathIn(context.req.query("next")));
  });
  const has = (context: Context) => sessions.has(getCookie(context, cookieName()) ?? "");
  app.use(async (context, next) => (!needsKey || has(context) ? await next() : refuse(context)));
  return { has, refuse };
}

/** A browser is sent to the form, and takes the key behind the address along: a refusal would be an error in its console. */
function refuse(context: Context): Response | Promise<Response> {
  const { pathname, search } = new URL(context.req.url);
  context.header("cache-control", "no-store");
  if (context.req.header("sec-fetch-mode") === "navigate")
    return context.redirect(`${sessionPath}?${new URLSearchParams({ next: pathname + search })}`, 303);
  return showForm(context, null, pathname + search, 403);
}

/** A path of this server; any other text leads to its first page. */
function pathIn(text: unknown): string {
  if (typeof text !== "string" || !text.startsWith("/")) return "/";
  const base = "http://here.invalid";
  const url = URL.parse(text, base);
  // After dot segments are gone a path can begin with two slashes, which would name another host.
  return url === null || url.origin !== base || url.pathname.startsWith("//")
    ? "/"
    : url.pathname + url.search;
}

/** Without a referrer, a browser would send the form without its origin, too. */
function showForm(context: Context, mistake: string | null, next: string, status: 200 | 403 | 429 = 200) {
  context.header("referrer-policy", "same-origin");
  return context.html(keyPage(mistake, next), status);
}

function keyPage(mistake: string | null, next: string): Html {
  const body = html`<div class="key"><h1>This page needs the key</h1>
<p>It was printed when <code>armoire serve</code> was started.</p>
${mistake === null ? "" : html`<p class="mistake" role="alert">${mistake}</p>`}
<form action="${sessionPath}" method="post">
<input type="hidden" name="next" value="${next}">
<label for="key">Key</label>
<div class="row"><input id="key" name="key" type="password" autocomplete="off" required autofocus><button>Open</button></div>
</form></div>`;
  return layout({
    ...{ title: "Key", body, navigation: [], path: sessionPath, query: new URLSearchParams() },
    ...{
      asOf: null,
      points: [],
      presentHref: null,
      service: null,
      downloads: [],
      link: (path: string) => path,
    },
  });
}
