/**
 * Counts what a call does in this project's own code: how often each block of its sources runs, as V8 counts it for coverage.
 * The same call always takes the same number of steps, on any machine. Regular expressions are one step, so they are checked
 * apart; so are built-in functions, which are linear.
 */
import { Session } from "node:inspector/promises";

const isOwn = (url: string) =>
  /\/(?:schema|src|jobs|exports)\/.+\.ts$/.test(url) && !url.includes("node_modules");

export interface StepCounter extends AsyncDisposable {
  /** The steps of one call. */
  count(call: () => unknown): Promise<number>;
}

export async function startStepCounter(): Promise<StepCounter> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const takeCount = async () => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    return result
      .filter(({ url }) => isOwn(url))
      .flatMap(({ functions }) => functions)
      .flatMap(({ ranges }) => ranges)
      .reduce((sum, { count }) => sum + count, 0);
  };
  return {
    async count(call) {
      await takeCount();
      await call();
      return await takeCount();
    },
    async [Symbol.asyncDispose]() {
      await session.post("Profiler.stopPreciseCoverage");
      session.disconnect();
    },
  };
}
