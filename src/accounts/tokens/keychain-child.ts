/** The program of the keychain process: executes one request. The parent kills it. */
import { AsyncEntry } from "@napi-rs/keyring";
import { messageOf } from "../../platform/errors.ts";
import type { KeychainRequest, KeychainResponse } from "./keychain.ts";

const service = "armoire";

process.on("message", async (request: KeychainRequest) => {
  process.send?.(await execute(request));
});

// The parent died. Native code may wait without end, so only a kill ends this process.
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

async function execute(request: KeychainRequest): Promise<KeychainResponse> {
  try {
    // The library's fallback without a Secret Service is the kernel's keyring, which is lost at a restart.
    const entry = new AsyncEntry(service, request.entry, { linux: { store: "secret-service" } });
    if (request.do === "get") return { secret: await entry.getPassword() };
    if (request.do === "set") await entry.setPassword(request.secret);
    else await entry.deletePassword();
    return { secret: null };
  } catch (error) {
    return { problem: messageOf(error).replace(/^Platform failure: /, "") };
  }
}
