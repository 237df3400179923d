/** The page in the backup of an account. */
import type { RenderPage } from "../../../archive/create.ts";
import { readCoverage } from "../../../mirror/runs/coverage.ts";
import { listRuns } from "../../../mirror/runs/run-log.ts";
import { readWardrobe } from "../../../query/lists/wardrobe.ts";

/** The same state gives the same page: its time is the end of the last run. */
export const renderBackupPage: RenderPage = async (mirror) => {
  const [run] = listRuns(mirror, 1);
  const now = Date.parse(run?.endedAt ?? run?.startedAt ?? "");
  const { baseUrl } = mirror.identity;
  // Its libraries take a tenth of a second to load.
  const { renderKeptPage } = await import("../../../web/kept-page.ts");
  const held = { wardrobe: readWardrobe(mirror), coverage: readCoverage(mirror) };
  return (await renderKeptPage({ ...held, account: null, baseUrl, mirrorFile: mirror.file, now })).text;
};
