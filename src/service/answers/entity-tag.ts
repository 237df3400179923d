/** An `ETag` that can be sent back as it is, weak or strong, quoted or (as some services do) not; else null. */
export function readEntityTag(value: string | string[] | null | undefined): string | null {
  return typeof value === "string" && /^[\x21-\x7e][\x20-\x7e]{0,1022}$/.test(value) ? value : null;
}

/** Whether two tags name the same content; RFC 9110 compares weakly for `If-None-Match`. */
export function isSameEntity(one: string, other: string): boolean {
  return one.replace(/^W\//, "") === other.replace(/^W\//, "");
}
