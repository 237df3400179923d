/** Inputs that several tools have. */
import { z } from "zod";
import { type Point, parsePoint, pointContext } from "../../mirror/points/point.ts";

const point = z.string().min(1).max(100);

export const pointForms =
  "a run's number, latest, latest-1, a time such as 2026-11-03 or 2026-11-03T06:00Z, or -7d (h, d, w, m)";

export const asOf = point.optional().describe(`the state at this point (default: latest): ${pointForms}`);

export const pointOf = (about: string) => point.optional().describe(about);

/** Never a path: a client chooses among points of one mirror, not among files. @throws PointError */
export const readPoint = (text: string | undefined): Point | undefined =>
  text === undefined ? undefined : parsePoint(text, pointContext());

/** At most `most` of something. */
export const limitOf = (most: number, usual: number) =>
  z.int().min(1).max(most).default(usual).describe(`at most this many; fewer if they are long`);
