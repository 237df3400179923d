/** How long things may take before somebody looks after them. A worker that is lost is noticed within half a minute. */
export const pace = {
  /** A job whose worker has not been heard of for so long is nobody's. */
  lockMillis: 10_000,
  /** Between two looks for such jobs, by workers. */
  stalledMillis: 4_000,
  /** Between two looks at what is under way, by the coordinator. */
  watchMillis: 2_000,
  /** For everything to be finished or handed back where it is asked to end. */
  goodbyeMillis: 8_000,
} as const;

/** Requests in one job at most: where there is much to do, Redis would cost more than the requests. */
export const mostInJob = 8;
