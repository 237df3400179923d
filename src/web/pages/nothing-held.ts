/** In place of every page while there is no mirror. */
import { html } from "hono/html";
import type { Html } from "../page.ts";

/** @param account whose mirror it is; null for the catalogue's */
export const nothingHeld = (account: { readonly name: string } | null): Html =>
  account === null ? noCatalogue : noAccount(account.name);

const noAccount = (name: string): Html => html`<div class="problem"><h1>Nothing of ${name} is held yet</h1>
<p>Fetch it, and load this page again:</p>
<pre tabindex="0"><code>armoire sync --account ${name}</code></pre></div>`;

const noCatalogue: Html = html`<div class="problem"><h1>Nothing is held yet</h1>
<p>There is no mirror in the data directory. Create one, and load this page again:</p>
<pre tabindex="0"><code>armoire sync --base-url URL</code></pre>
<p class="hint">To try it without the service, <code>armoire sandbox</code> runs one with an invented catalogue.</p></div>`;
