import { once } from "node:events";
import type { Writable } from "node:stream";

/** Writes at once. While the stream's reader is behind, it gives a promise for whoever has much to write to wait for. */
export type Writer = (text: string) => Promise<void> | undefined;

export function writerTo(stream: Writable): Writer {
  let drained: Promise<void> | undefined;
  return (text) => {
    if (stream.write(text)) return undefined;
    drained ??= once(stream, "drain").then(() => {
      drained = undefined;
    });
    return drained;
  };
}
