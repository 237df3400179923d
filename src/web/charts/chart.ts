/**
 * What a chart shows, as plain data. The functions beside this file make one from rows; `draw.ts` makes it an SVG, and
 * `figure.ts` puts its numbers beneath it.
 */

export interface Chart {
  readonly title: string;
  /** One sentence that says what the chart shows, for people who hear the page. */
  readonly summary: string;
  readonly x: Axis;
  readonly y: { readonly label: string; readonly form: "count" | "share" | "number" };
  /** At most two, as many as the stylesheet has colours for. */
  readonly series: readonly Series[];
  /** Horizontal lines, such as an allowance. Default: none. */
  readonly limits?: readonly { readonly label: string; readonly y: number }[];
}

export interface Axis {
  readonly label: string;
  /**
   * `time`: epoch milliseconds. `day`: midnight of a day in UTC, as epoch milliseconds; bars are a day wide. `number`: any
   * number. `bucket`: few short texts, side by side, in the order of the points. `name`: texts of any length, below each other.
   */
  readonly form: "time" | "day" | "number" | "bucket" | "name";
}

export interface Series {
  readonly name: string;
  /** A step holds its value until the next point. */
  readonly form: "line" | "step" | "bar" | "dots";
  /** Drawn broken: expected, not measured. Default: false. */
  readonly isForecast?: boolean;
  readonly points: readonly Point[];
}

export interface Point {
  readonly x: number | string;
  /** Null leaves a gap in a line. */
  readonly y: number | null;
}

/** Whether there is anything to see. */
export const hasPoints = ({ series }: Chart): boolean =>
  series.some(({ points }) => points.some(({ y }) => y !== null));
