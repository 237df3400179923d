/** The thread that writes a run's mirror: opens it when it is told to, then carries out one call after the other. */
import { parentPort, workerData } from "node:worker_threads";
import { kinds } from "../../jobs/kinds.ts";
import { MirrorError, toMirrorError } from "../mirror/errors.ts";
import { type MirrorWriter, openMirrorWriter } from "../mirror/mirror.ts";
import type { ThreadOptions, WriteAnswer, WriteCall } from "./mirror-thread.ts";

const options = workerData as ThreadOptions;

function answer(value: WriteAnswer): void {
  parentPort?.postMessage(value);
}

async function attempt(work: () => unknown): Promise<void> {
  try {
    answer({ ok: true, value: await work() });
  } catch (thrown) {
    const error = toMirrorError(thrown, options.file);
    if (!(error instanceof MirrorError)) answer({ ok: false, error, mirrorError: null });
    else {
      const { code, file, what, hint, cause } = error;
      answer({ ok: false, error: cause, mirrorError: { code, file, what, hint } });
    }
  }
}

function serve(mirror: MirrorWriter): void {
  parentPort?.on("message", ({ name, args }: WriteCall) => {
    void attempt(() => (mirror[name] as (...args: readonly unknown[]) => unknown)(...args));
  });
}

parentPort?.once("message", () => {
  void attempt(async () => serve(await openMirrorWriter({ ...options, kinds })));
});
