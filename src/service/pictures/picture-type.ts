/** Which pictures are downloaded, by what they begin with: none of a kind that a program could be in, as in SVG or HTML. */
export type PictureType = "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/avif";

const isOfType: Readonly<Record<PictureType, (beginning: string) => boolean>> = {
  "image/png": (beginning) => beginning.startsWith("\x89PNG\r\n\x1a\n"),
  "image/jpeg": (beginning) => beginning.startsWith("\xff\xd8\xff"),
  "image/gif": (beginning) => beginning.startsWith("GIF87a") || beginning.startsWith("GIF89a"),
  "image/webp": (beginning) => beginning.startsWith("RIFF") && beginning.startsWith("WEBP", 8),
  "image/avif": (beginning) => beginning.startsWith("ftypavif", 4) || beginning.startsWith("ftypavis", 4),
};

export const pictureTypes = Object.keys(isOfType) as PictureType[];

/** Null for anything else. */
export function pictureTypeOf(bytes: Uint8Array): PictureType | null {
  const beginning = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  return pictureTypes.find((type) => isOfType[type](beginning)) ?? null;
}

/** Whether a `Content-Type` says that it is one of these. */
export function isPictureType(header: string | string[] | undefined): boolean {
  const type = typeof header === "string" ? header.split(";", 1)[0]?.trim().toLowerCase() : undefined;
  // What many servers call a JPEG.
  return type === "image/jpg" || pictureTypes.some((known) => known === type);
}
