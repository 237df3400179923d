/** Ending early without losing anything: no new request at once, and soon an end to those under way. */

/** How long requests under way may still take once the run was asked to end. */
const graceMillis = 1500;

export interface GracefulStop {
  readonly isRequested: boolean;
  /** Cancels requests under way, once their grace is over. */
  readonly cancel: AbortSignal;
  /** Stops watching, and cancels what may still be under way. */
  end(): void;
}

export function createGracefulStop(signal: AbortSignal | undefined): GracefulStop {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => controller.abort(), graceMillis);
  };
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return {
    get isRequested() {
      return signal?.aborted ?? false;
    },
    cancel: controller.signal,
    end() {
      clearTimeout(timer);
      controller.abort();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
