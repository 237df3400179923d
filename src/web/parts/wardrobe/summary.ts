/** What an account has and how fresh it is: the first line of its pages; and when it was last backed up: the second. */
import { html } from "hono/html";
import { stateOfBackup } from "../../../accounts/newest-backup.ts";
import type { Coverage } from "../../../mirror/runs/coverage.ts";
import { describeCoverage } from "../../../mirror/runs/describe-coverage.ts";
import { formatAge } from "../../../presentation/durations.ts";
import { formatCount } from "../../../presentation/numbers.ts";
import { formatMinute } from "../../../presentation/times.ts";
import type { Wardrobe } from "../../../query/lists/wardrobe.ts";
import type { Html, ServedAccount } from "../../page.ts";
import { timeOf } from "../values.ts";

/** @param now epoch milliseconds; null for a page to keep, on which ages would soon be wrong */
export function summary({ bras, measurements, oldestCheckAt }: Wardrobe, now: number | null): Html {
  const gone = bras.filter(isGone).length;
  const checked =
    oldestCheckAt === null
      ? ""
      : html`, checked ${now === null ? timeOf(oldestCheckAt) : `${formatAge(oldestCheckAt, now)} ago`}`;
  return html`<p class="headline">${formatCount(bras.length - gone, "bra")} and ${formatCount(measurements.rows.length, "measurement")}${checked}.${
    gone === 0 ? "" : ` ${formatCount(gone, "bra is", "bras are")} gone at the service and still here.`
  }</p>`;
}

export const isGone = ({ fields }: Wardrobe["bras"][number]): boolean => fields.gone_at != null;

/** Whether all that the token may see is held, or what is missing. */
export const wholeNote = (coverage: Coverage): Html =>
  html`<p class="note${coverage.complete ? " whole" : ""}" role="note">${describeCoverage(coverage, formatMinute, "everything that the service has of you")}</p>`;

/** @param isOld whether the mirror has changed since; null if that is not known */
export function backupNote(
  { name, newestBackup: backup }: ServedAccount,
  isOld: boolean | null,
  shownAs = (path: string): string => path,
): Html {
  if (backup === null)
    return html`<p class="note" role="note">No backup is known. <code>armoire backup --account ${name} --to FOLDER</code> makes one.</p>`;
  const { createdAt, verifiedAt, damagedAt, file } = backup;
  const place = html`<span class="code">${shownAs(file)}</span>`;
  const state = stateOfBackup(backup);
  if (state === "missing")
    return html`<p class="note" role="note"><strong>The newest backup is not there any more</strong>: ${place}</p>`;
  if (state === "damaged" && damagedAt !== null)
    return html`<p class="note" role="note"><strong>The newest backup is damaged</strong>, as a check found ${timeOf(damagedAt)}: ${place}</p>`;
  if (isOld)
    return html`<p class="note" role="note"><strong>The newest backup lacks later changes</strong>: it is of ${formatMinute(createdAt)}, last verified ${timeOf(verifiedAt)}: ${place}. <code>armoire backup --account ${name} --to FOLDER</code> makes a new one.</p>`;
  const whole = isOld === null ? "" : " with everything that is held";
  return html`<p class="note whole" role="note">Newest backup${whole}: ${formatMinute(createdAt)}, last verified ${timeOf(verifiedAt)}: ${place}</p>`;
}
