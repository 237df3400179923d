/** Downloaded pictures in pages: only of the known types, none of which can hold a program. */
import {
  type PictureType,
  pictureEndings,
  sha256OfPictureName,
} from "../../../../schema/entities/picture-types.ts";
import { readPicture } from "../../../mirror/media/media-files.ts";
import type { BraPicture } from "../../../query/lists/wardrobe.ts";

const typeByEnding = new Map(
  Object.entries(pictureEndings).map(([type, ending]) => [ending as string, type as PictureType]),
);

/** The media type that the name of a picture's file tells; null for any other name. */
export function typeOfPictureName(name: string): PictureType | null {
  if (sha256OfPictureName(name) === null) return null;
  return typeByEnding.get(name.slice(name.lastIndexOf("."))) ?? null;
}

export const isShownPicture = ({ name }: BraPicture): boolean => typeOfPictureName(name) !== null;

/** @returns null for a name of no picture, and for a picture that is not there */
export function readShownPicture(
  mirrorFile: string,
  name: string,
): { readonly type: PictureType; readonly bytes: Buffer } | null {
  const [sha256, type] = [sha256OfPictureName(name), typeOfPictureName(name)];
  if (sha256 === null || type === null) return null;
  const bytes = readPicture(mirrorFile, { sha256, type });
  return bytes && { type, bytes };
}
