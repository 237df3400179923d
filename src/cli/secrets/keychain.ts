import type { Keychain } from "../../accounts/keychain.ts";
import { systemKeychain } from "../../accounts/system-keychain.ts";
import type { Io } from "../terminal/io.ts";

/** The system's keychain; somebody who may have to unlock it is told so. */
export function keychainOf(io: Io): Keychain {
  return systemKeychain({
    env: io.env,
    onWait: () => io.err("Waiting for the system's keychain, which may be asking to be unlocked.\n"),
  });
}
