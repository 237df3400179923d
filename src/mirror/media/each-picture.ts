import { hash } from "node:crypto";
import { MirrorError } from "../errors.ts";
import type { MirrorReader } from "../mirror.ts";
import { isDerived } from "../require-derived.ts";
import { mediaFile, readPicture } from "./media-files.ts";

/** Every picture that was ever downloaded, each once, in the order of their SHA-256. @throws MirrorError `damaged` */
export function* eachPicture({ db, file }: MirrorReader): Generator<{ sha256: string; bytes: Buffer }> {
  if (!isDerived(db, "_media_file")) return;
  const select = db
    .prepare<[], string>("select distinct lower(hex(sha256)) from _media_file order by 1")
    .pluck();
  for (const sha256 of select.iterate()) {
    const bytes = readPicture(file, sha256);
    if (bytes === null || hash("sha256", bytes) !== sha256)
      throw damaged(mediaFile(file, sha256), bytes === null);
    yield { sha256, bytes };
  }
}

function damaged(picture: string, isMissing: boolean): MirrorError {
  const what = isMissing ? "A picture is missing" : "A picture is not what was downloaded";
  const first = isMissing ? "" : "Take it away; ";
  const command = "`armoire sync --account NAME --media`";
  return new MirrorError(
    "damaged",
    picture,
    what,
    `${first}${command} downloads it again, where it still is.`,
  );
}
