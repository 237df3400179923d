import { hash } from "node:crypto";
import { MirrorError } from "../file/errors.ts";
import type { MirrorReader } from "../mirror-reader.ts";
import { isDerived } from "../rows/require-derived.ts";
import { mediaFile, readPicture } from "./media-files.ts";

export interface StoredPicture {
  /** In lower-case hexadecimal. */
  readonly sha256: string;
  /** Such as `image/png`. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** Every picture that was ever downloaded, each once, in the order of their SHA-256. @throws MirrorError `damaged` */
export function* eachPicture({ db, file }: MirrorReader): Generator<StoredPicture> {
  if (!isDerived(db, "_media_file")) return;
  const select = db.prepare<[], Omit<StoredPicture, "bytes">>(
    "select lower(hex(sha256)) as sha256, min(type) as type from _media_file group by sha256 order by 1",
  );
  for (const { sha256, type } of select.iterate()) {
    const bytes = readPicture(file, sha256);
    if (bytes === null || hash("sha256", bytes) !== sha256)
      throw damaged(mediaFile(file, sha256), bytes === null);
    yield { sha256, type, bytes };
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
