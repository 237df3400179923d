/** Tools that look something up: tables, resources by their names, one resource. */
import { z } from "zod";
import { readMirror } from "../../mirror/reader.ts";
import { readCoverage } from "../../mirror/runs/coverage.ts";
import { gapsOf } from "../../mirror/runs/describe-coverage.ts";
import { shownKinds } from "../../query/keys/find-by-key.ts";
import { listDescribedTables } from "../../query/lists/described-tables.ts";
import { foundKinds, search } from "../../query/search.ts";
import { showResource } from "../../query/show.ts";
import { suggestSearch } from "../../query/suggest-search.ts";
import { limitedList, shorten } from "../answer.ts";
import { tool } from "../tool.ts";
import { asOf, limitOf, readPoint } from "./inputs.ts";

export const tables = tool(
  {
    name: "tables",
    title: "Tables and columns",
    description:
      "Lists the tables of the mirror; with a name, its columns, their types and meanings, and keys.",
    input: z.strictObject({ table: z.string().optional().describe("describe the columns of this table") }),
  },
  ({ table: name }, { file }) => {
    const described = readMirror(file, listDescribedTables);
    if (name === undefined) return { tables: described.map(({ table, about }) => ({ table, about })) };
    const found = described.find(({ table }) => table === name);
    if (found !== undefined) return found;
    throw new Error(`There is no table ${JSON.stringify(name)}. Without a name, this tool lists the tables.`);
  },
);

export const searchTool = tool(
  {
    name: "search",
    title: "Search by name",
    description:
      "Finds brands and models, or an account's bras, whose names have words beginning with all given words. " +
      "The key of a result is what the tool show takes.",
    input: z.strictObject({
      text: z.string().max(1000).describe("words, or beginnings of words"),
      kind: z.enum(foundKinds).optional().describe("find only this kind"),
      gone: z.boolean().optional().describe("also find resources that are gone"),
      limit: limitOf(200, 20),
      as_of: asOf,
    }),
  },
  ({ text, kind, gone, limit, as_of }, { file }) => {
    const filter = { ...(kind && { kind }), ...(gone && { gone }) };
    const read = readMirror(
      file,
      (mirror) => {
        const found = search(mirror, text, { ...filter, limit: limit + 1 });
        const coverage = readCoverage(mirror, kind === undefined ? foundKinds : [kind]);
        return {
          found,
          coverage,
          suggestion: found.length === 0 ? suggestSearch(mirror, text, filter) : null,
        };
      },
      readPoint(as_of),
    );
    const list = limitedList(limit);
    const isCut = !read.found.every(list.add);
    const { suggestion, coverage } = read;
    return {
      ...{ found: list.items, isCut, gaps: gapsOf(coverage) },
      ...(suggestion && { similar: suggestion.similar }),
    };
  },
);

export const show = tool(
  {
    name: "show",
    title: "Show one resource",
    description:
      "Shows the fields, links, last change and source of one resource; of a model also its brand, sizes, pictures and " +
      "related models.",
    input: z.strictObject({
      kind: z.enum(shownKinds),
      key: z
        .string()
        .max(2000)
        .optional()
        .describe(
          "slugs such as BRAND, BRAND/MODEL or BRAND/MODEL/SIZE, a name, code, id or URL; not needed for user",
        ),
      as_of: asOf,
    }),
  },
  ({ kind, key, as_of }, { file }) => {
    if (key === undefined && kind !== "user") throw new Error(`The key of the ${kind} is missing.`);
    return shorten(readMirror(file, (mirror) => showResource(mirror, kind, key ?? null), readPoint(as_of)));
  },
);
