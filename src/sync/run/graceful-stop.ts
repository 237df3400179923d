/** Ending early without losing anything: no new requests at once, and soon an end to running ones. */

/** How long requests may still run after an interruption. */
const graceMillis = 1500;

export interface GracefulStop {
  readonly isRequested: boolean;
  /** Cancels running requests after the grace period. */
  readonly cancel: AbortSignal;
  /** Stops watching, and cancels requests that still run. */
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
