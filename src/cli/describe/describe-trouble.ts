/** What went wrong in a sync that came to its end: told also to who asked for quiet. */
import type { SyncReport } from "../../sync/report.ts";

export const stoppedAnswering = "The service stopped answering.";

/** A line for each trouble; none when all is well. @param account that it was about; null for none */
export function describeTrouble(report: SyncReport, account: string | null): string[] {
  const ofAccount = account === null ? "" : ` --account ${account}`;
  const { resources, masses, withdrawn = [] } = report;
  const lines: string[] = [];
  if (withdrawn.length > 0)
    lines.push(
      `No longer granted to this token: ${withdrawn.join(", ")}. What is mirrored of that stays;` +
        ` \`armoire account add${account === null ? " NAME" : ` ${account}`}\` takes another token.`,
    );
  if (resources.failed > 0)
    lines.push(
      `${resources.failed} failed; \`armoire status${ofAccount}\` lists them, the next sync tries them again.`,
    );
  if (resources.partial > 0) {
    const many = resources.partial === 1 ? "1 list is" : `${resources.partial} lists are`;
    lines.push(
      `${many} partial, so nothing is taken for gone from there; \`armoire status${ofAccount}\` shows where.`,
    );
  }
  if (resources.waiting > 0) lines.push(describeMasses(masses, resources.waiting, ofAccount));
  return lines;
}

/** The same for who is told nothing else of the run. */
export function describeTroubleAlone(report: SyncReport, account: string | null): string {
  const lines = describeTrouble(report, account);
  if (report.stopped === "error") lines.push(`${stoppedAnswering} The next sync goes on from here.`);
  const where = account === null ? "" : ` of ${account}`;
  return lines.map((line) => `armoire: sync${where}: ${line}\n`).join("");
}

const shownMasses = 3;

function describeMasses(masses: SyncReport["masses"], waiting: number, ofAccount: string): string {
  const shown = masses.slice(0, shownMasses).map(({ absent, of, kind, collection }) => {
    const what = `${absent} of ${of} of kind ${kind}`;
    return collection === null ? what : `${what} in ${collection}`;
  });
  const rest = masses.length - shownMasses;
  const more = rest > 0 ? [`${rest} more ${rest === 1 ? "list" : "lists"}`] : [];
  return (
    `Waiting for approval, ${waiting} in all: ${[...shown, ...more].join(", ")} are gone at once.` +
    ` \`armoire sync${ofAccount} --approve\` lets them go.`
  );
}
