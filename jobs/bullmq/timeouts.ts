/** How long things may take before somebody looks after them: a worker that is lost is noticed within fifteen seconds. */
export const timeouts = {
  /** A job whose worker has not been heard of for so long is nobody's. */
  lockMillis: 6_000,
  /** Between two looks for such jobs, by workers. */
  stalledMillis: 3_000,
  /** Between two looks at what is under way, by the coordinator. */
  watchMillis: 1_000,
  /** For everything to be finished or handed back where it is asked to end. */
  goodbyeMillis: 6_500,
} as const;

/** Requests in one job at most: where there is much to do, Redis would cost more than the requests. */
export const maxRequestsPerJob = 8;
