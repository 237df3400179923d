/** Metrics, and their text in the format of Prometheus, version 0.0.4. Pure. */
export interface Metric {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly samples: readonly Sample[];
}

export interface Sample {
  /** Ends the name of the sample, such as `_bucket` of a histogram. Default: nothing. */
  readonly suffix?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export const prometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

const metricOf =
  (type: Metric["type"]) =>
  (name: string, help: string, samples: readonly Sample[]): Metric => ({
    name: `armoire_${name}`,
    type,
    help,
    samples,
  });

/** Only grows. */
export const counter = metricOf("counter");
export const gauge = metricOf("gauge");
export const histogram = metricOf("histogram");

/** Omits metrics without samples. */
export function toPrometheusText(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(
      ({ name, type, help, samples }) =>
        `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${samples.map((sample) => toLine(name, sample)).join("")}`,
    )
    .join("");
}

function toLine(name: string, { suffix = "", labels, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${suffix}${pairs.length > 0 ? `{${pairs.join(",")}}` : ""} ${value}\n`;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
