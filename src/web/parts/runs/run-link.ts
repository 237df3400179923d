/** The number of a run, and whose run it is: catalogue and account count their own. */
import { html } from "hono/html";
import type { RunRecord } from "../../../mirror/runs/run-log.ts";
import type { Html, View } from "../../page.ts";

/** Only a run of the catalogue that has ended and is not pruned has a page of its changes. */
export const runLink = (
  view: View,
  { id, endedAt, prunedAt }: Pick<RunRecord, "id" | "endedAt" | "prunedAt">,
): Html | string =>
  view.account !== null || endedAt === null || prunedAt !== null
    ? String(id)
    : html`<a href="${view.link(`/changes/${id}`)}">${String(id)}</a>`;

/** Whose runs a page shows. */
export const ownerOfRuns = ({ account }: Pick<View, "account">): Html | string =>
  account === null ? "the catalogue" : html`<bdi>${account.name}</bdi>`;

/** Such as `run 3`; on pages of an account `run 3 of ada`. Headings of the other pages say that runs are those of the catalogue. */
export const runName = ({ account }: Pick<View, "account">, run: number): Html | string =>
  account === null ? `run ${run}` : html`run ${run} of <bdi>${account.name}</bdi>`;
