/**
 * `/metrics` and `/healthz` of a scheduler. In: the data directory, and the runs as they start and end. Out: an HTTP server.
 * Mirrors and schedules are read at each request, so that a removed schedule and its mirror are gone at once.
 */
import { existsSync } from "node:fs";
import { Hono } from "hono";
import { type Listening, type ListenOptions, listen } from "../../jobs/metrics/listen.ts";
import { prometheusContentType, toPrometheusText } from "../../jobs/metrics/metric.ts";
import { type MirrorFigures, toMirrorMetrics } from "../../jobs/metrics/mirror-metrics.ts";
import { readProcessMetrics } from "../../jobs/metrics/process-metrics.ts";
import type { Clock } from "../platform/clock.ts";
import { messageOf } from "../platform/errors.ts";
import { isForServer } from "../platform/network/host-names.ts";
import { ScheduleError } from "../schedule/errors.ts";
import { readRuns, type ScheduledRun } from "../schedule/run-history.ts";
import type { Schedule } from "../schedule/schedule.ts";
import { listSchedules } from "../schedule/schedules.ts";
import { type MirrorPlace, readMirrorFigures } from "./mirror-figures.ts";
import { outcomeOfRun, type ScheduleFigures, toScheduleMetrics } from "./schedule-metrics.ts";

export interface ScheduleServerOptions extends ListenOptions {
  readonly dataDir: string;
  /** Further host names that requests may have, such as that of a container. */
  readonly names: readonly string[];
  readonly clock: Pick<Clock, "now">;
  /** The mirror of a schedule; null if it is not known. */
  readonly placeOf: (schedule: Schedule) => MirrorPlace | null;
}

export interface ScheduleServer extends Listening {
  noteStart(schedule: Schedule): void;
  noteEnd(schedule: Schedule, run: ScheduledRun): void;
  /** The scheduler looks at its schedules. */
  noteBeat(): void;
  /** @param problems what keeps runs from starting */
  noteProblems(problems: readonly string[]): void;
}

/** A scheduler looks every five seconds. */
const maxSilenceMillis = 60_000;
const nothingEnded = { done: 0, failed: 0, killed: 0 };

/** @throws ScheduleError `cannot-listen` */
export async function serveScheduleMetrics(options: ScheduleServerOptions): Promise<ScheduleServer> {
  const { dataDir, host, names, clock, placeOf } = options;
  const running = new Set<string>();
  const ended = new Map<string, ScheduleFigures["ended"]>();
  let beatAt = clock.now();
  let noted: readonly string[] = [];

  const readSchedules = (): ScheduleFigures[] =>
    listSchedules(dataDir).map((schedule) => ({
      schedule,
      runs: readRuns(dataDir, schedule.name),
      isRunning: running.has(schedule.name),
      ended: ended.get(schedule.name) ?? nothingEnded,
    }));

  const app = new Hono();
  app.onError((error, context) => context.text(`${messageOf(error)}\n`, 500));
  app.use(async (context, next) => {
    if (isForServer(context.req.raw, host, names)) return await next();
    return context.text("This host name is not accepted. Allow it with --metrics-name.\n", 403);
  });
  app.get("/healthz", (context) => {
    const isBeating = clock.now() - beatAt < maxSilenceMillis;
    const problems = isBeating ? noted : ["the scheduler does not look at its schedules"];
    const ok = problems.length === 0;
    return context.json({ ok, problems }, ok ? 200 : 503);
  });
  app.get("/metrics", (context) => {
    const schedules = readSchedules();
    const now = clock.now();
    const mirrors = readMirrors(
      schedules.map(({ schedule }) => schedule),
      placeOf,
      now,
    );
    const text = toPrometheusText([
      ...readProcessMetrics(),
      ...toScheduleMetrics(schedules, now),
      ...toMirrorMetrics(mirrors),
    ]);
    return context.body(text, 200, { "content-type": prometheusContentType });
  });
  const listening = await listen(
    app.fetch,
    options,
    (cause) =>
      new ScheduleError(
        "cannot-listen",
        `The metrics cannot be served on ${host} port ${options.port}: ${messageOf(cause)}.`,
        "Give another address or port to --metrics, or 0 for any free port.",
        { cause },
      ),
  );
  return {
    ...listening,
    noteStart: ({ name }) => void running.add(name),
    noteEnd({ name }, run) {
      running.delete(name);
      const counts = ended.get(name) ?? nothingEnded;
      const outcome = outcomeOfRun(run);
      ended.set(name, { ...counts, [outcome]: counts[outcome] + 1 });
    },
    noteBeat() {
      beatAt = clock.now();
    },
    noteProblems(problems) {
      noted = problems;
    },
  };
}

/** Each mirror once. One that does not exist yet, or cannot be read, is left out: its syncs report that. */
function readMirrors(
  schedules: readonly Schedule[],
  placeOf: ScheduleServerOptions["placeOf"],
  now: number,
): MirrorFigures[] {
  const places = new Map(
    schedules.flatMap((schedule) => {
      const place = placeOf(schedule);
      return place !== null && existsSync(place.file) ? [[place.file, place] as const] : [];
    }),
  );
  return [...places.values()].flatMap((place) => {
    try {
      return [readMirrorFigures(place, now)];
    } catch {
      return [];
    }
  });
}
