/** The thread that writes mirrors, one after the other: opens one when it is told to, then carries out call after call. */
import { parentPort } from "node:worker_threads";
import { kinds } from "../../../jobs/kinds.ts";
import { MirrorError, toMirrorError } from "../../mirror/file/errors.ts";
import { type MirrorWriter, openMirrorWriter } from "../../mirror/writer.ts";
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
    if (!(error instanceof MirrorError)) return { ok: false, error, mirrorError: null };
    const { code, file: named, what, hint, cause } = error;
    return { ok: false, error: cause, mirrorError: { code, file: named, what, hint } };
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
