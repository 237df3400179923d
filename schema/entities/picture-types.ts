/** The formats of pictures that are downloaded: none that can hold a program, as SVG and HTML can. */

/** The usual ending of a file's name, by media type. */
export const pictureEndings = {
  "image/png": ".png",
  "image/jpeg": ".jpg",
  "image/gif": ".gif",
  "image/webp": ".webp",
  "image/avif": ".avif",
} as const;

export type PictureType = keyof typeof pictureEndings;

export const pictureTypes = Object.keys(pictureEndings) as PictureType[];

/** The name of a picture's file: its SHA-256, in lower-case hexadecimal, and an ending unless the type is unknown. */
export const pictureName = (sha256: string, type: unknown): string =>
  sha256 + (pictureTypes.includes(type as PictureType) ? pictureEndings[type as PictureType] : "");

const nameForm = /^([0-9a-f]{64})(?:\.(?:png|jpg|gif|webp|avif))?$/;

/** The SHA-256 in such a name; null for any other name. */
export const sha256OfPictureName = (name: string): string | null => nameForm.exec(name)?.[1] ?? null;

/** SQL for the same name. @param sha256 a blob @param type a media type */
export const pictureNameSql = (sha256: string, type: string): string =>
  `lower(hex(${sha256})) || case ${type} ${pictureTypes.map((known) => `when '${known}' then '${pictureEndings[known]}'`).join(" ")} else '' end`;
