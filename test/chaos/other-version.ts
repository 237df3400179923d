/** Imported first, makes the program one whose jobs have payloads of another version. */
import { registerHooks } from "node:module";

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const source = loaded.source?.toString() ?? "";
    return /\bpayloadVersion = \d+/.test(source)
      ? { ...loaded, source: source.replace(/\bpayloadVersion = \d+/, "payloadVersion = 999") }
      : loaded;
  },
});
