/**
 * Where a link leads that is only noted. Most lead to what is below the resource itself, whose URL is then not written once
 * more: `+`, with which no URL begins, stands for it.
 */

export function toNoted(url: string, source: string): string {
  return url.startsWith(source) ? `+${url.slice(source.length)}` : url;
}

export function fromNoted(noted: string, source: string): string {
  return noted.startsWith("+") ? source + noted.slice(1) : noted;
}

/**
 * `fromNoted` in SQL.
 * @param link alias of a row of `_link`
 * @param source alias of the row of `_resource` that it is a link of
 */
export const notedUrlOf = (link: string, source: string): string =>
  `iif(${link}.noted_url like '+%', ${source}.url || substr(${link}.noted_url, 2), ${link}.noted_url)`;
