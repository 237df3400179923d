/** The number of a run, as a link to what it changed. */
import { html } from "hono/html";
import type { RunRecord } from "../../../mirror/runs/runs.ts";
import type { Html, View } from "../../page.ts";

/** Only a run of the catalogue that has ended and is not pruned has a page of its changes. */
export const runLink = (
  view: View,
  { id, endedAt, prunedAt }: Pick<RunRecord, "id" | "endedAt" | "prunedAt">,
): Html | string =>
  view.account !== null || endedAt === null || prunedAt !== null
    ? String(id)
    : html`<a href="${view.link(`/changes/${id}`)}">${String(id)}</a>`;
