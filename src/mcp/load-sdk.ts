/** Loads the optional package. */
import { hasCode } from "../platform/errors.ts";
import { McpError } from "./errors.ts";

export type Sdk = typeof import("@modelcontextprotocol/server") &
  typeof import("@modelcontextprotocol/server/stdio");

const load = async (): Promise<Sdk> => ({
  ...(await import("@modelcontextprotocol/server")),
  ...(await import("@modelcontextprotocol/server/stdio")),
});

/** @throws McpError without the optional package */
export async function loadSdk(loading: () => Promise<Sdk> = load): Promise<Sdk> {
  try {
    return await loading();
  } catch (cause) {
    if (!hasCode(cause, "ERR_MODULE_NOT_FOUND")) throw cause;
    throw new McpError(
      "not-installed",
      "`armoire mcp` needs the package @modelcontextprotocol/server, which is not installed.",
      "Run `npm install @modelcontextprotocol/server` where Armoire is installed.",
      { cause },
    );
  }
}
