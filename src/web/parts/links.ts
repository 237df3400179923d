/** Addresses of this server's pages. */
import type { LinkQuery, Page, View } from "../page.ts";

/**
 * Keeps the point in time that the URL names, but not a run between the pages of catalogue and account: each mirror counts
 * its own runs.
 */
export function linker(current: URLSearchParams, page: Pick<Page, "area"> | undefined): View["link"] {
  const point = current.get("as-of");
  const isRun = /^(\d+$|latest)/.test(point?.trim() ?? "");
  return (path, query: LinkQuery = {}) => {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query))
      if (value !== null && value !== undefined) parameters.set(name, String(value));
    const isOther = (page?.area === "account") !== isAccountPath(path);
    if (point && !(isRun && isOther)) parameters.set("as-of", point);
    return hrefOf(path, parameters);
  };
}

const isAccountPath = (path: string): boolean => /^\/me(\/|$)/.test(path);

export const hrefOf = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query}`;

export function withoutParameters(query: URLSearchParams, names: readonly string[]): URLSearchParams {
  return new URLSearchParams([...query].filter(([name]) => !names.includes(name)));
}
