/** What a sync of an account did with what is not her data itself: the catalogue beside it, and pictures. */
import type { MediaReport, PictureOrigin } from "../../sync/media/media-report.ts";
import type { WholeReport } from "../../sync/sync-whole.ts";
import { describeReport } from "./describe-report.ts";
import { describeTroubleAlone } from "./describe-trouble.ts";

/** After the words on the account itself; empty where neither was wanted. */
export function describeBeside({ catalogue, media }: WholeReport, account: string, now: number): string {
  const ofCatalogue =
    catalogue === undefined || catalogue === null
      ? ""
      : `What the bras are, in the catalogue's mirror:\n${describeReport(catalogue, { outlook: null, now, reserve: 0, account: null })}`;
  return ofCatalogue + (media === undefined || media === null ? "" : describeMedia(media, account));
}

/** For who is told nothing else: a line for each trouble that is no error of its own. */
export function describeTroubleOfWhole(report: WholeReport, account: string | null): string {
  const { catalogue, media } = report;
  const ofCatalogue = catalogue ? describeTroubleAlone(catalogue, null) : "";
  const failed = media?.pictures.failed ?? 0;
  const ofMedia =
    failed === 0
      ? ""
      : `armoire: ${failed} ${failed === 1 ? "picture" : "pictures"} failed; the next --media tries again.\n`;
  return describeTroubleAlone(report, account) + ofCatalogue + ofMedia;
}

export function describeOrigins(origins: readonly PictureOrigin[]): string {
  const lines = origins.map(({ origin, pictures }) => `  ${origin}  ${pictures}\n`);
  return `Pictures are also at these places, which are asked for so many, without any credential:\n${lines.join("")}`;
}

function describeMedia({ pictures, requests, stopped }: MediaReport, account: string): string {
  const { failed, gone, pending, bytes } = pictures;
  const lines = [
    `Pictures: ${pictures.new} new, ${pictures.changed} changed, ${pictures.unchanged} unchanged; ${bytes} bytes in ${requests.sent} ${requests.sent === 1 ? "request" : "requests"}.`,
  ];
  const why = `select url, error from media where error is not null`;
  if (failed + gone > 0) {
    lines.push(
      `${failed} failed, ${gone} are gone; what was downloaded before stays. \`armoire query "${why}" --account ${account}\` says why.`,
    );
  }
  if (pending > 0)
    lines.push(
      `${pending} were not asked for${stopped === null ? "" : ` (${stopped})`}; the next --media goes on from here.`,
    );
  return `${lines.join("\n")}\n`;
}
