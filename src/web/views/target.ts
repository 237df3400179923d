/** What a request asks for: a page or its rows, and the parts of its address. */
import type { Context } from "hono";
import type { TextFormat } from "../../../exports/formats/table.ts";
import type { AnyPage, Page, SharedPage, SharedThroughRedis, View } from "../page.ts";
import { contentTypes, splitEnding } from "../rows.ts";

export interface Target extends Pick<View, "parameters" | "query" | "path" | "asOf"> {
  readonly page: Pick<Page, "render" | "rows" | "area"> | SharedPage;
  readonly redis: SharedThroughRedis | null;
}

/** The request that a view is made for, without the rest of its page. */
export type ViewTarget = Omit<Target, "page"> & { readonly page: Pick<AnyPage, "area"> };

export const hasRows = (page: AnyPage): boolean => "prepare" in page || page.rows !== undefined;

export const headersOf = (name: string, format: TextFormat) => ({
  "content-type": contentTypes[format],
  "content-disposition": `inline; filename="${name}.${format}"`,
});

export function parametersOf(
  context: Context,
  page: Pick<Page, "path">,
  hasEnding: boolean,
): Readonly<Record<string, string>> {
  const given: Record<string, string> = { ...context.req.param() };
  const last = page.path.match(/:(\w+)$/)?.[1];
  if (hasEnding && last !== undefined) given[last] = splitEnding(given[last] ?? "")?.path ?? "";
  return given;
}
