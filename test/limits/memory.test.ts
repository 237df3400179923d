/** The memory of a sync whose service sends one body that comes close to a limit, or exceeds one. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { jsonResponse, rawResponse, startRawServer } from "../support/raw-server.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { isThorough } from "../support/thorough.ts";
import { hostileBodies } from "./support/hostile-bodies.ts";

const run = promisify(execFile);
const child = join(import.meta.dirname, "support/syncing-process.ts");
/** 400 MB. */
const maxMebibytes = 381;
const names = Object.keys(hostileBodies);

describe("one body of a service", () => {
  it.each(
    isThorough
      ? names
      : ([
          "too many items",
          "one long number",
          "too many long numbers",
          "as many long numbers as allowed",
          "as many fields as allowed, with as many long numbers",
        ] as const),
  )("%s: less than 400 MB, and at most one failure", async (name) => {
    await using folder = await temporaryFolder();
    const { text, isRefused } = hostileBodies[name]?.() ?? { text: "", isRefused: false };
    await using server = await startRawServer(({ path }, socket) => {
      if (path === "/")
        socket.write(jsonResponse({ rel: "resource", spec: null, links: { brands: "/brands/" }, meta: {} }));
      else if (path === "/brands/")
        socket.write(rawResponse(200, { "content-type": "application/json" }, text));
      else socket.write(jsonResponse({ message: "gone" }, {}, 404));
    });
    const { stdout } = await run(process.execPath, [
      // Without it, the size depends on when V8 happens to collect garbage.
      "--max-old-space-size=224",
      child,
      join(folder.path, "a.sqlite"),
      `${server.origin}/`,
    ]);
    const { mebibytes, failures } = JSON.parse(stdout);
    expect(mebibytes).toBeLessThan(maxMebibytes);
    expect(failures).toHaveLength(isRefused ? 1 : 0);
  });
});
