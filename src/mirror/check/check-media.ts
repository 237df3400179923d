/** Whether every picture that was ever downloaded is still there, and is what was downloaded. */
import { hash } from "node:crypto";
import type { Connection } from "../file/connection.ts";
import { mediaFile, readPicture } from "../media/media-files.ts";
import type { ReportProblem } from "./check-problem.ts";

/** @returns how many pictures there are */
export function checkMedia(db: Connection, mirrorFile: string, report: ReportProblem): number {
  const select = db
    .prepare<[], string>("select distinct lower(hex(sha256)) as sha256 from _media_file order by 1")
    .pluck();
  let pictures = 0;
  for (const sha256 of select.iterate()) {
    pictures++;
    const what = damageOf(mirrorFile, sha256);
    if (what !== null) report({ code: "media", where: mediaFile(mirrorFile, sha256), what });
  }
  return pictures;
}

function damageOf(mirrorFile: string, sha256: string): string | null {
  try {
    const bytes = readPicture(mirrorFile, sha256);
    if (bytes === null) return "the picture is missing";
    return hash("sha256", bytes) === sha256 ? null : "the picture is not what was downloaded";
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
    return `the picture cannot be read (${error.code})`;
  }
}
