/** Draws curves from 0 to 1 over days as SVG, for the documentation. */
export interface Curve {
  readonly name: string;
  /** One value after each request, from 0 to 1. */
  readonly points: readonly number[];
}

const [width, height] = [760, 400];
const frame = { left: 56, top: 48, right: 100, bottom: 48 };
const [plotWidth, plotHeight] = [width - frame.left - frame.right, height - frame.top - frame.bottom];
/** Number of segments of a drawn curve. */
const steps = 180;
const labelHeight = 17;
const colors = ["#1f77b4", "#d97706", "#b91c1c", "#6b7280"];
const css = `text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-size: 16px; font-weight: 600 }
.grid { stroke: #d0d7de } .curve { fill: none; stroke-width: 2.2 } .end { font-weight: 600 }`;

export function drawCurves(title: string, curves: readonly Curve[], days: number): string {
  const x = (day: number) => round(frame.left + (day / days) * plotWidth);
  const y = (share: number) => round(frame.top + (1 - share) * plotHeight);
  const rows = [0, 0.25, 0.5, 0.75, 1].map(
    (share) =>
      `<path class="grid" d="M${frame.left} ${y(share)}h${plotWidth}"/><text x="${frame.left - 8}" y="${y(share) + 4}" text-anchor="end">${share * 100} %</text>`,
  );
  const marks = Array.from({ length: 7 }, (_, index) => (index * days) / 6).map(
    (day) => `<text x="${x(day)}" y="${height - frame.bottom + 20}" text-anchor="middle">${day}</text>`,
  );
  const paths = curves.map(({ points }, index) => {
    const line = Array.from({ length: steps + 1 }, (_, step) => {
      const request = Math.round((step / steps) * points.length);
      return `${x((step / steps) * days)} ${y(points[request - 1] ?? 0)}`;
    });
    const dashes = index === curves.length - 1 ? ' stroke-dasharray="5 4"' : "";
    return `<path class="curve" stroke="${colors[index % colors.length]}"${dashes} d="M${line.join("L")}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${title}</title>
<style>${css}</style>
<rect width="100%" height="100%" rx="8" fill="#fff"/>
<text class="title" x="${frame.left}" y="28">${title}</text>
${[...rows, ...marks, ...paths, ...drawLabels(curves, y)].join("\n")}
<text x="${frame.left + plotWidth / 2}" y="${height - 8}" text-anchor="middle">days</text>
</svg>
`;
}

/** Draws each name beside the end of its curve, moved down where names would overlap. */
function drawLabels(curves: readonly Curve[], y: (share: number) => number): string[] {
  let baseline = Number.NEGATIVE_INFINITY;
  return curves
    .map(({ name, points }, index) => ({ name, index, end: points.at(-1) ?? 0, sum: sumOf(points) }))
    .sort((one, other) => other.end - one.end || other.sum - one.sum)
    .map(({ name, index, end }) => {
      baseline = Math.max(y(end) + 4, baseline + labelHeight);
      const fill = colors[index % colors.length];
      return `<text class="end" x="${width - frame.right + 8}" y="${baseline}" style="fill:${fill}">${name}</text>`;
    });
}

function sumOf(points: readonly number[]): number {
  return points.reduce((sum, point) => sum + point, 0);
}

function round(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}
