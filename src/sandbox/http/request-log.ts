/** The log of all requests except administration, for tests to count. */
export interface LogEntry {
  /** From 1, in order of arrival; never reused. */
  readonly n: number;
  /** ISO 8601, from the sandbox's clock. */
  readonly time: string;
  readonly method: string;
  readonly url: string;
  /** Of HTTP. */
  readonly status: number;
  /** Whether it counted against the allowance. */
  readonly counted: boolean;
  /** Whose allowance it is: `none`, `app:KEY` or `user:NAME`. */
  readonly credential: string;
  /** Whether it had `If-None-Match`. */
  readonly conditional: boolean;
  /** The name of the applied fault. */
  readonly fault?: string;
  /** The previous request for the same URL if that had a fault: this one is its retry. */
  readonly attemptOf?: number;
}

export interface Observation extends Omit<LogEntry, "n" | "time" | "attemptOf"> {
  readonly timeMillis: number;
}

export interface RequestLog {
  readonly add: (observation: Observation) => void;
  /** @param after the `n` of an entry; only later entries are returned */
  readonly read: (after?: number) => LogEntry[];
  readonly clear: () => void;
}

interface Entry {
  readonly observation: Observation;
  readonly attemptOf: number | undefined;
}

function describe(n: number, { observation, attemptOf }: Entry): LogEntry {
  const { timeMillis, ...rest } = observation;
  const time = new Date(timeMillis).toISOString();
  return { n, time, ...rest, ...(attemptOf !== undefined && { attemptOf }) };
}

export function createRequestLog(): RequestLog {
  let firstN = 1;
  let entries: Entry[] = [];
  const faultedByUrl = new Map<string, number>();
  return {
    add(observation) {
      const n = firstN + entries.length;
      const attemptOf = faultedByUrl.get(observation.url);
      entries.push({ observation, attemptOf });
      if (observation.fault !== undefined) faultedByUrl.set(observation.url, n);
      else if (attemptOf !== undefined) faultedByUrl.delete(observation.url);
    },
    read(after = 0) {
      const skipped = Math.max(0, after - firstN + 1);
      return entries.slice(skipped).map((entry, index) => describe(firstN + skipped + index, entry));
    },
    clear() {
      firstN += entries.length;
      entries = [];
      faultedByUrl.clear();
    },
  };
}
