/** The thread that writes mirrors, one at a time: it opens a mirror, then executes call after call. */
import { parentPort } from "node:worker_threads";
import { kinds } from "../../../jobs/kinds.ts";
import { MirrorError, toMirrorError } from "../../mirror/file/errors.ts";
import { type MirrorWriter, openMirrorWriter } from "../../mirror/writer.ts";
import { FileError } from "../../platform/errors.ts";
import type { WriteCall, WriteResult } from "./client.ts";

let file = "";
let mirror: MirrorWriter | undefined;

parentPort?.on("message", async (call: WriteCall) => {
  parentPort?.postMessage(await toResult(call));
});

async function toResult(call: WriteCall): Promise<WriteResult> {
  try {
    return { ok: true, value: await execute(call) };
  } catch (thrown) {
    const error = toMirrorError(thrown, file);
    if (error instanceof FileError) {
      const { code, message, hint } = error;
      return { ok: false, fileError: { code, message, hint } };
    }
    if (!(error instanceof MirrorError)) return { ok: false, error };
    const { code, file: errorFile, problem, hint, cause } = error;
    return { ok: false, mirrorError: { code, file: errorFile, problem, hint, cause } };
  }
}

async function execute(call: WriteCall): Promise<unknown> {
  if (call.name === "open") {
    file = call.options.file;
    mirror = await openMirrorWriter({ ...call.options, kinds, mustExist: true });
    return undefined;
  }
  if (mirror === undefined) throw new Error(`${call.name} needs an open mirror.`);
  return (mirror[call.name] as (...args: readonly unknown[]) => unknown)(...call.args);
}
