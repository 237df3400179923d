/** The program of the process that asks the system's keychain one thing, and is killed by whoever started it. */
import { AsyncEntry } from "@napi-rs/keyring";
import type { KeychainAnswer, KeychainRequest } from "./keychain.ts";

const service = "armoire";

process.on("message", async (request: KeychainRequest) => {
  process.send?.(await answer(request));
});

// Should the one who asked die first, nobody waits for an answer any more, and native code may wait for ever.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

async function answer(request: KeychainRequest): Promise<KeychainAnswer> {
  try {
    // Without a Secret Service the library would turn to the kernel's keyring, which forgets everything at a restart.
    const entry = new AsyncEntry(service, request.entry, { linux: { store: "secret-service" } });
    if (request.do === "get") return { secret: await entry.getPassword() };
    if (request.do === "set") await entry.setPassword(request.secret);
    else await entry.deletePassword();
    return { secret: null };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { problem: problem.replace(/^Platform failure: /, "") };
  }
}
