/** No process can be started because too many files are open: each caller says so, waits for nothing and ends no process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { createFixture } from "./support/fixture.ts";

const program = join(import.meta.dirname, "support/without-descriptors.ts");

it.runIf(process.platform === "linux")(
  "without a free descriptor every start of a process fails alone",
  async () => {
    await using fixture = await createFixture();
    // In a process group of its own: to kill "process 0" is to kill the whole group.
    const child = spawn(
      "/bin/sh",
      ["-c", 'ulimit -n 60; exec "$@"', "sh", process.execPath, program, fixture.mirror],
      { detached: true, stdio: ["ignore", "pipe", "pipe"] },
    );
    const [output, errors, ended] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, "close"),
    ]);
    expect({ errors, ended }).toEqual({ errors: "", ended: [0, null] });
    expect(JSON.parse(output)).toEqual({
      changes: expect.objectContaining({ exitCode: null, signal: null, startError: "spawn true EMFILE" }),
      query: expect.stringMatching(
        /The query's process could not be started \(spawn .* EMFILE\)\.\nEnd other/,
      ),
      keychain: expect.stringMatching(/spawn .* EMFILE\nToo many files are open/),
      schedule: { exitCode: null, stdout: "", problem: "spawn true EMFILE" },
      thread: expect.stringMatching(/EMFILE\nToo many files are open/),
    });
  },
);
