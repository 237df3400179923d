/** What an answer to a request for a picture means. Pure; it shows nothing that the answer says of itself. */

import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import { isSameEntity, readEntityTag } from "../responses/headers.ts";
import { type ResponseAction, redirects, type SentRequest } from "../responses/interpret-response.ts";
import type { AttemptReport } from "../responses/rate-limiter.ts";
import { readEncoding } from "../transport/content-encoding.ts";
import type { ResponseHead } from "../transport/send-request.ts";

interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export type FetchedPicture =
  | (Validators & {
      readonly outcome: "picture";
      readonly bytes: Uint8Array;
      /** What the bytes are; the server may have called them another kind of picture. */
      readonly type: PictureType;
    })
  | (Validators & { readonly outcome: "not-modified" })
  | { readonly outcome: "gone"; readonly status: 404 | 410 };

/** @throws ServiceError when the answer brings nothing */
export function interpretPicture(
  head: ResponseHead,
  wire: Uint8Array,
  { allowance, retryAt }: AttemptReport,
  asked: SentRequest,
): ResponseAction<FetchedPicture> {
  const { status, headers } = head;
  const facts = { url: asked.finalUrl, status };
  const failure = (code: ServiceErrorCode, detail = `answered ${status}`, resumeAt: number | null = null) =>
    new ServiceError(code, detail, { ...facts, resumeAt });

  if (status === 200) {
    if (!isPictureType(headers["content-type"]))
      throw failure("not-a-picture", "the answer does not say that it is a picture");
    // Nobody was offered an encoding, and pictures are compressed already.
    if (readEncoding(headers["content-encoding"]) !== "identity")
      throw failure("encoding-refused", "encoded, which was not offered");
    const type = pictureTypeOf(wire);
    if (type === null) throw failure("not-a-picture", "called a picture, but not one by its first bytes");
    return { do: "return", fetched: { outcome: "picture", bytes: wire, type, ...validatorsIn(head) } };
  }
  if (status === 304) return judgeNotModified(head, asked);
  if (redirects.includes(status) && typeof headers.location === "string")
    return { do: "redirect", location: headers.location };
  if (status === 404 || status === 410) return { do: "return", fetched: { outcome: "gone", status } };
  if (status === 403 && allowance?.remaining === 0)
    throw failure("allowance-spent", `answered ${status}`, retryAt ?? allowance.resetAt);
  if (retryAt !== null && (status === 429 || status === 503))
    return { do: "wait", retryAt, error: failure("throttled", `answered ${status}`, retryAt) };
  if (status === 429) throw failure("busy");
  if (status >= 500 || status === 408) throw failure("server-error");
  throw failure(status === 401 || status === 403 ? "forbidden" : "unexpected-status");
}

/** As for any other answer: it counts only if it answers what was asked. */
function judgeNotModified(
  head: ResponseHead,
  { etag, lastModified, finalUrl }: SentRequest,
): ResponseAction<FetchedPicture> {
  const current = validatorsIn(head);
  const isSame = etag === null || current.etag === null || isSameEntity(current.etag, etag);
  if ((etag !== null || lastModified !== null) && isSame) {
    const held = { etag: current.etag ?? etag, lastModified: current.lastModified ?? lastModified };
    return { do: "return", fetched: { outcome: "not-modified", ...held } };
  }
  const detail = "answered “not modified”, but not about what was asked";
  return {
    do: "ask-plainly",
    error: new ServiceError("unasked-not-modified", detail, { url: finalUrl, status: 304 }),
  };
}

function validatorsIn({ headers }: ResponseHead): Validators {
  const modified = headers["last-modified"];
  const isDate = typeof modified === "string" && /^[\x20-\x7e]{1,64}$/.test(modified);
  return { etag: readEntityTag(headers.etag), lastModified: isDate ? modified : null };
}

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
