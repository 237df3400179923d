/** The value of one metric in Prometheus' text format, summed over its other labels; null without a sample. */
export function metricValue(text: string, name: string, ...labels: string[]): number | null {
  const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  const matching = lines.filter((line) => labels.every((label) => line.includes(label)));
  return matching.length === 0
    ? null
    : matching.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}
