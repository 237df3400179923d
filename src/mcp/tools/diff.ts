/** The tool for changes between two points in time of the mirror. */
import { z } from "zod";
import { count, type Totals } from "../../change/change.ts";
import { openDiff, openReported } from "../../change/open-diff.ts";
import { toMirrorError } from "../../mirror/file/errors.ts";
import { gapsOfDiff } from "../../mirror/runs/describe-coverage.ts";
import { limitedList } from "../answer.ts";
import { tool } from "../tool.ts";
import { limitOf, pointForms, pointOf, readPoint } from "./inputs.ts";

const names = (about: string) => z.array(z.string()).max(20).default([]).describe(about);

export const diff = tool(
  {
    name: "diff",
    title: "What changed",
    description:
      "Lists the resources that were added, removed or changed between two points in time, field by field. " +
      "Totals count all of them.",
    input: z.strictObject({
      from: pointOf(
        `the earlier point (default: the latest earlier run with a different state): ${pointForms}`,
      ),
      to: pointOf("the later point (default: latest)"),
      since: pointOf("instead of from: what the service itself reports as modified since this time"),
      kinds: names("only these kinds, such as model"),
      brands: names("only these brands, by name, slug or URL"),
      models: names("only these models with their sizes, by name, code, brand/model or URL"),
      fields: names("only changes of these fields"),
      limit: limitOf(500, 50),
    }),
  },
  async ({ from, to, since, kinds, brands, models, fields, limit }, { file }) => {
    if (since !== undefined && (from !== undefined || fields.length > 0))
      throw new Error("since cannot be given together with from or fields.");
    const [earlier, later] = [readPoint(from), readPoint(to)];
    const points = { ...(earlier && { from: earlier }), ...(later && { to: later }) };
    const request = { mirror: file, kinds, brands, models, fields, ...points };
    const opened = since === undefined ? await openDiff(request) : await openReported(request, since);
    try {
      const list = limitedList(limit);
      const totals: Totals = {};
      let isCut = false;
      for (const change of opened.changes) {
        count(totals, change);
        isCut ||= !list.add(change);
      }
      const sides = { from: placeIn(opened.from), to: placeIn(opened.to), since: opened.since };
      return {
        ...sides,
        changes: list.items,
        isCut,
        totals,
        gaps: gapsOfDiff(opened.coverage, opened.from !== null),
      };
    } catch (error) {
      throw toMirrorError(error, file);
    } finally {
      opened.close();
    }
  },
);

/** Without the path of the mirror, which is no matter of a client's. */
function placeIn(source: Awaited<ReturnType<typeof openDiff>>["from"]) {
  if (source === null || "folder" in source.place) return null;
  const { run, endedAt } = source.place;
  return { run, endedAt };
}
