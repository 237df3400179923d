/** The thread that writes mirrors, one after the other: opens one when it is told to, then carries out call after call. */
import { parentPort } from "node:worker_threads";
import { kinds } from "../../../jobs/kinds.ts";
import { MirrorError, toMirrorError } from "../../mirror/file/errors.ts";
import { type MirrorWriter, openMirrorWriter } from "../../mirror/writer.ts";
import { FileError } from "../../platform/errors.ts";
import type { WriteAnswer, WriteCall } from "./client.ts";

let file = "";
let mirror: MirrorWriter | undefined;

parentPort?.on("message", async (call: WriteCall) => {
  parentPort?.postMessage(await answer(call));
});

async function answer(call: WriteCall): Promise<WriteAnswer> {
  try {
    return { ok: true, value: await carryOut(call) };
  } catch (thrown) {
    const error = toMirrorError(thrown, file);
    if (error instanceof FileError) {
      const { code, message, hint } = error;
      return { ok: false, fileError: { code, message, hint } };
    }
    if (!(error instanceof MirrorError)) return { ok: false, error };
    const { code, file: named, problem, hint, cause } = error;
    return { ok: false, mirrorError: { code, file: named, problem, hint, cause } };
  }
}

async function carryOut(call: WriteCall): Promise<unknown> {
  if (call.name === "open") {
    file = call.options.file;
    mirror = await openMirrorWriter({ ...call.options, kinds });
    return undefined;
  }
  if (mirror === undefined) throw new Error(`There is no mirror open to ${call.name}.`);
  return (mirror[call.name] as (...args: readonly unknown[]) => unknown)(...call.args);
}
