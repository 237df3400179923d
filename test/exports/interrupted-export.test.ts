import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { verifyDataPackage } from "../../exports/package/verify/verify-package.ts";
import { writeDataPackage } from "../../exports/package/write-package.ts";
import { tries } from "../support/thorough.ts";
import { tableOf } from "./support/arbitrary-table.ts";
import { folderState, makeTestFolder } from "./support/folder-state.ts";

const program = join(import.meta.dirname, "support/exporting-process.ts");

const state = { baseUrl: "https://a.example/", run: 7, endedAt: null };

const exportHere = (out: string) =>
  writeDataPackage({
    out,
    formats: ["csv"],
    tables: [tableOf("brand", ["n"], [[1]])],
    state,
    toolVersion: "0",
  });

function startExport(out: string, label: string, rows: number, pauses: number): ChildProcess {
  return spawn(process.execPath, [program, out, label, String(rows), String(pauses)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}

/** The label of the complete export at a destination; null if nothing is there. */
async function whatStands(out: string): Promise<unknown> {
  if (!(await readdir(dirname(out))).includes(basename(out))) return "nothing";
  const { contents, problems } = await verifyDataPackage(out);
  expect(problems).toEqual([]);
  return new URL(contents.state.baseUrl).hostname;
}

describe("SIGKILL", () => {
  it("an export killed with SIGKILL leaves its destination empty or unchanged, at any point in the data", async () => {
    const folder = await makeTestFolder();
    for (const [earlier, steps] of [
      ["nothing", 3],
      ["earlier", 1],
      ["earlier", 7],
    ] as const) {
      const out = join(folder, `${earlier}-${steps}`);
      if (earlier === "earlier") await once(startExport(out, "earlier", 10, 0), "exit");
      const child = startExport(out, "later", 1000, 250);
      for (let step = 0; step < steps; step++) {
        await once(child.stdout ?? child, "data");
        if (step < steps - 1) child.stdin?.write("x");
      }
      await kill(child);
      expect(await whatStands(out)).toBe(earlier);
    }
  });

  it("an export killed with SIGKILL leaves its destination empty or complete at any moment, and the next export removes temporary files", async () => {
    const folder = await makeTestFolder();
    const out = join(folder, "out");
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 30 }), async (millis) => {
        const child = startExport(out, "forever", 100, 0);
        await once(child.stdout ?? child, "data");
        const killed = Promise.withResolvers<void>();
        setTimeout(() => kill(child).then(killed.resolve, killed.reject), millis);
        await killed.promise;
        expect(["nothing", "odd", "even"]).toContain(await whatStands(out));
        await exportHere(out);
        expect(Object.keys(await folderState(folder))).toEqual([
          "out",
          "out/README.md",
          "out/brand.csv",
          "out/datapackage.json",
        ]);
      }),
      { numRuns: tries(6, 50) },
    );
  });

  it("an export killed with SIGKILL between its two renames is recovered by the next export, even if that one fails", async () => {
    const folder = await makeTestFolder();
    const out = join(folder, "out");
    await exportHere(out);
    const before = await folderState(folder);
    await rename(out, join(folder, ".out.armoire-old"));
    const failed = writeDataPackage({
      out,
      formats: ["csv"],
      tables: [tableOf("?", [], [])],
      state,
      toolVersion: "0",
    });
    await expect(failed).rejects.toMatchObject({ code: "bad-table-name" });
    expect(await folderState(folder)).toEqual(before);
  });
});

describe("concurrent exports", () => {
  it("an export beside another one does not remove the temporary folder of an export that still runs", async () => {
    const folder = await makeTestFolder();
    const running = `.out.armoire-partial-${process.ppid}-abcdef`;
    await mkdir(join(folder, running));
    await exportHere(join(folder, "out"));
    expect(await readdir(folder)).toEqual([running, "out"]);
  });
});

describe("disk space", () => {
  it("a full disk is reported with the path, and leaves only the earlier package", async () => {
    const folder = await makeTestFolder();
    const out = join(folder, "out");
    await exportHere(out);
    const before = await folderState(folder);
    // A limit on file size fails a write as a full disk does, and needs no root.
    const limited = `ulimit -f 16; exec "$0" "$@"`;
    const { promise, resolve } = Promise.withResolvers<string>();
    execFile(
      "bash",
      ["-c", limited, process.execPath, program, out, "big", "100000", "0"],
      (_error, stdout) => resolve(stdout),
    );
    expect(JSON.parse(await promise)).toEqual({
      code: "write-failed",
      message: expect.stringMatching(new RegExp(`^Cannot write ${out}: EFBIG`)),
    });
    expect(await folderState(folder)).toEqual(before);
  });
});
