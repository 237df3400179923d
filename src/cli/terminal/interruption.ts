import { CliError } from "./exit-codes.ts";
import type { Io } from "./io.ts";

/** Aborted at Ctrl-C or a request to terminate. @param outcome what is true then, such as that nothing was written */
export function interruptionOf(io: Io, outcome: string): AbortSignal {
  const interruption = new AbortController();
  io.onInterrupt((exitCode) => interruption.abort(new CliError(exitCode, `Interrupted; ${outcome}.`)));
  return interruption.signal;
}
