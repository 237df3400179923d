/** The memory of a sync whose service sends one body that comes close to a limit, or exceeds one, and of restoring that body. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createBackup } from "../../src/archive/create.ts";
import { jsonResponse, rawResponse, startRawServer } from "../support/raw-server.ts";
import { temporaryFolder } from "../support/run-armoire.ts";
import { isThorough, someOf } from "../support/thorough.ts";
import { hostileBodies } from "./support/hostile-bodies.ts";

const run = promisify(execFile);
/** The output of a program of `support`, as JSON. */
async function outputOf(program: string, ...args: string[]) {
  // Without the option, the size depends on when V8 happens to collect garbage.
  const options = ["--max-old-space-size=224", join(import.meta.dirname, "support", program)];
  return JSON.parse((await run(process.execPath, [...options, ...args])).stdout);
}

/** 400 MB. */
const maxMebibytes = 381;
const names = Object.keys(hostileBodies);

describe("one body of a service", () => {
  it.each(
    isThorough
      ? names
      : [
          "as many fields as allowed, with as many long numbers",
          "one long name of line ends and nested escapes",
          ...someOf(
            ["too many items", "one long number", "too many long numbers", "as many long numbers as allowed"],
            1,
          ),
        ],
  )(
    "%s: a sync and a restored backup take less than 400 MB, and at most one resource fails",
    async (name) => {
      await using folder = await temporaryFolder();
      const { text, isRefused } = hostileBodies[name]?.() ?? { text: "", isRefused: false };
      await using server = await startRawServer(({ path }, socket) => {
        if (path === "/")
          socket.write(
            jsonResponse({ rel: "resource", spec: null, links: { brands: "/brands/" }, meta: {} }),
          );
        else if (path === "/brands/")
          socket.write(rawResponse(200, { "content-type": "application/json" }, text));
        else socket.write(jsonResponse({ message: "gone" }, {}, 404));
      });
      const mirror = join(folder.path, "a.sqlite");
      const { mebibytes, failures } = await outputOf("syncing-process.ts", mirror, `${server.origin}/`);
      expect(mebibytes).toBeLessThan(maxMebibytes);
      expect(failures).toHaveLength(isRefused ? 1 : 0);
      if (isRefused) return;
      const { file } = await createBackup({ mirror, account: null, to: join(folder.path, "a.zip") });
      const restored = await outputOf("restoring-process.ts", file, join(folder.path, "b.sqlite"));
      expect(restored.resources).toBe(2);
      expect(restored.mebibytes).toBeLessThan(maxMebibytes);
    },
  );
});

describe("what a stranger's archive says of itself", () => {
  const start = '{"format":"armoire-backup","formatVersion":4,"contents":';
  const fill = (opening: string, item: string, bytes: number) =>
    opening + item.repeat((bytes - opening.length - 1) / item.length);
  it.each([
    [
      "state",
      fill('{"format":"armoire-snapshots","formatVersion":1,"snapshots":[', "{},", 2 ** 24 - 4),
      "0]}",
    ],
    ["state", fill("", "[", 2 ** 24), ""],
    ["backup", fill(`${start}"backup","coverage":[`, "{},", 2 ** 20 - 4), "0]}"],
    ["backup", fill(`${start}"backup","notGranted":[`, "0,", 2 ** 20 - 4), "0]}"],
    ["snapshot", fill(`${start}"snapshot","coverage":[`, "{},", 2 ** 20 - 4), "0]}"],
  ])("a hostile %s of the largest size is refused in less than 400 MB", async (what, text, end) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, "text");
    writeFileSync(file, text + end);
    const { refusal, mebibytes } = await outputOf("describing-process.ts", what, file);
    expect(refusal).toContain("damaged");
    expect(mebibytes).toBeLessThan(maxMebibytes);
  });
});
