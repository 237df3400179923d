/**
 * A process that waits for the next statement: a process takes a fifth of a second to start. It is there only while people
 * ask, since it takes memory.
 */
import {
  forkQueryProcess,
  type StartQueryProcess,
  type WaitingProcess,
} from "../../query/sql/query-process.ts";

export interface SpareProcess {
  /** Starts a process now, because a statement will probably follow. */
  prepare(): void;
  /** Takes the one that waits, if there is one. */
  readonly start: StartQueryProcess;
  close(): void;
}

const idleMillis = 60_000;

export function createSpareProcess(): SpareProcess {
  let spare: WaitingProcess | null = null;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const close = () => {
    clearTimeout(timer);
    void spare?.stop();
    spare = null;
  };
  return {
    prepare() {
      if (isClosed) return;
      clearTimeout(timer);
      timer = setTimeout(close, idleMillis).unref();
      if (!spare?.isAlive()) spare = forkQueryProcess();
    },
    start(limits, signal) {
      const waiting = spare?.isAlive() ? spare : forkQueryProcess();
      spare = null;
      return waiting.begin(limits, signal);
    },
    close() {
      isClosed = true;
      close();
    },
  };
}
