/** The meaning of a response to a request for a picture. Pure; it shows no text of the response. */
import { type PictureType, pictureTypes } from "../../../schema/entities/picture-types.ts";
import { ServiceError, type ServiceErrorCode } from "../errors.ts";
import { isSameEntity, readEntityTag } from "../requests/headers.ts";
import {
  type ResponseAction,
  type ResponseParser,
  redirects,
  type SentRequest,
  unexpectedNotModified,
} from "../requests/interpret-response.ts";
import { decideRefusal } from "../requests/retry-policy.ts";
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
      /** By its first bytes; the server may have named another format. */
      readonly type: PictureType;
    })
  | (Validators & { readonly outcome: "not-modified" })
  | { readonly outcome: "gone"; readonly status: 404 | 410 };

export const interpretPicture: ResponseParser<FetchedPicture> = (
  head,
  wire,
  { allowance, retryAt },
  request,
) => {
  const { status, headers } = head;
  const context = { url: request.finalUrl, status };
  const failure = (code: ServiceErrorCode, detail = `answered ${status}`, resumeAt: number | null = null) =>
    new ServiceError(code, detail, { ...context, resumeAt });

  if (status === 200) {
    if (!isPictureType(headers["content-type"]))
      throw failure("not-a-picture", "the content type is not that of a picture");
    // No encoding was offered: pictures are compressed already.
    if (readEncoding(headers["content-encoding"]) !== "identity")
      throw failure("encoding-refused", "encoded, which was not offered");
    const type = pictureTypeOf(wire);
    if (type === null) throw failure("not-a-picture", "not a picture by its first bytes");
    return { do: "return", fetched: { outcome: "picture", bytes: wire, type, ...readValidators(head) } };
  }
  if (status === 304) return interpretNotModified(head, request);
  if (redirects.includes(status) && typeof headers.location === "string")
    return { do: "redirect", location: headers.location };
  if (status === 404 || status === 410) return { do: "return", fetched: { outcome: "gone", status } };
  const decision = decideRefusal({ status, message: null, allowance, retryAt });
  switch (decision?.do) {
    case "stop":
      throw failure("allowance-spent", `answered ${status}`, decision.resumeAt);
    case "wait":
      return {
        do: "wait",
        retryAt: decision.retryAt,
        error: failure("throttled", `answered ${status}`, decision.retryAt),
      };
    case "retry":
      throw failure("busy");
  }
  if (status >= 500 || status === 408) throw failure("server-error");
  throw failure(status === 401 || status === 403 ? "forbidden" : "unexpected-status");
};

/** A 304 counts only as the response to a validator, and only with the same tag or none. */
function interpretNotModified(
  head: ResponseHead,
  { etag, lastModified, finalUrl }: SentRequest,
): ResponseAction<FetchedPicture> {
  const current = readValidators(head);
  const isSame = etag === null || current.etag === null || isSameEntity(current.etag, etag);
  if ((etag !== null || lastModified !== null) && isSame) {
    const held = { etag: current.etag ?? etag, lastModified: current.lastModified ?? lastModified };
    return { do: "return", fetched: { outcome: "not-modified", ...held } };
  }
  return { do: "retry-unconditionally", error: unexpectedNotModified(finalUrl) };
}

function readValidators({ headers }: ResponseHead): Validators {
  const modified = headers["last-modified"];
  const isDate = typeof modified === "string" && /^[\x20-\x7e]{1,64}$/.test(modified);
  return { etag: readEntityTag(headers.etag), lastModified: isDate ? modified : null };
}

const isOfType: Readonly<Record<PictureType, (start: string) => boolean>> = {
  "image/png": (start) => start.startsWith("\x89PNG\r\n\x1a\n"),
  "image/jpeg": (start) => start.startsWith("\xff\xd8\xff"),
  "image/gif": (start) => start.startsWith("GIF87a") || start.startsWith("GIF89a"),
  "image/webp": (start) => start.startsWith("RIFF") && start.startsWith("WEBP", 8),
  "image/avif": (start) => start.startsWith("ftypavif", 4) || start.startsWith("ftypavis", 4),
};

/** By the first bytes; null for any other format. */
export function pictureTypeOf(bytes: Uint8Array): PictureType | null {
  const start = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  return pictureTypes.find((type) => isOfType[type](start)) ?? null;
}

/** Whether a `Content-Type` names one of these formats. */
export function isPictureType(header: string | string[] | undefined): boolean {
  const type = typeof header === "string" ? header.split(";", 1)[0]?.trim().toLowerCase() : undefined;
  // What many servers call a JPEG.
  return type === "image/jpg" || pictureTypes.some((known) => known === type);
}
