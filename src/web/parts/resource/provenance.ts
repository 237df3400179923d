/** Where the values of a resource come from: the request that returned them, and what led to it. */
import { html } from "hono/html";
import { describeGoneProof } from "../../../presentation/words.ts";
import type { Provenance } from "../../../query/provenance.ts";
import type { Html, View } from "../../page.ts";
import { runName } from "../runs/run-link.ts";
import { none, timeOf } from "../values.ts";

export function provenance(view: Pick<View, "account">, source: Provenance): Html {
  const { url, redirectedTo, run, revision, fetchedAt, checkedAt, status, etag, contentType, gone, foundIn } =
    source;
  const entries: readonly (readonly [string, Html | string])[] = [
    ["request", html`<span class="code">GET ${url}</span>`],
    ...(redirectedTo === null
      ? []
      : [["redirected to", html`<span class="code">${redirectedTo}</span>`] as const]),
    ["fetched", html`${timeOf(fetchedAt)}, by ${runName(view, run)}, as revision ${revision}`],
    ["checked", checkedAt === null ? none() : timeOf(checkedAt)],
    ["status", String(status)],
    ["ETag", etag === null ? none() : html`<span class="code">${etag}</span>`],
    ["content type", contentType === null ? none() : html`<span class="code">${contentType}</span>`],
    ...(gone === null ? [] : [["gone", html`${timeOf(gone.at)}, by ${runName(view, gone.run)}`] as const]),
    ...(gone?.proof ? [["gone because", describeGoneProof(gone.proof)] as const] : []),
    [
      gone === null ? "found in" : "last found in",
      foundIn.length === 0
        ? none()
        : html`<ul class="plain">${foundIn.map(
            ({ url: page, link }) =>
              html`<li><span class="code">${page}</span>${link === null ? "" : html` as <span class="code">${link}</span>`}</li>`,
          )}</ul>`,
    ],
  ];
  return html`<dl class="facts">${entries.map(
    ([name, value]) => html`
<div><dt>${name}</dt><dd>${value}</dd></div>`,
  )}</dl>`;
}
