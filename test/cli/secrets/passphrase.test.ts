/** The sources of a passphrase, and prompts only when needed. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  passphraseAsker,
  readKnownPassphrase,
  readNewPassphrase,
} from "../../../src/cli/secrets/passphrase.ts";
import type { Io } from "../../../src/cli/terminal/io.ts";
import { writeSecretFile } from "../../support/canary.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { fakeIo } from "../support/fake-io.ts";

/** A terminal with this typed input, and the prompts that it showed. */
function typeLines(...lines: (string | null)[]): { io: Io; prompts: { text: string; isSecret: boolean }[] } {
  const prompts: { text: string; isSecret: boolean }[] = [];
  const ask: Io["ask"] = async (question) => {
    prompts.push(question);
    return lines.shift() ?? null;
  };
  return { io: { ...fakeIo(), ask }, prompts };
}

describe("new backup", () => {
  it("the passphrase of a new backup is prompted for twice and not shown", async () => {
    const { io, prompts } = typeLines("one two three", "one two three");
    expect(await readNewPassphrase({ encrypt: true }, io)).toEqual({ passphrase: "one two three" });
    expect(prompts.map(({ isSecret }) => isSecret)).toEqual([true, true]);
  });

  it("six words of the short list are suggested before the prompt, others each time", async () => {
    const suggestions = [];
    for (const _time of [1, 2]) {
      const io = { ...fakeIo({ isTerminal: true }), ask: async () => "one two three" };
      await readNewPassphrase({ encrypt: true }, io);
      suggestions.push(/: ((?:[a-z-]{3,5} ){5}[a-z-]{3,5})\n$/.exec(io.written.err)?.[1]);
    }
    expect(new Set(suggestions)).toHaveLength(2);
    expect(suggestions).not.toContain(undefined);
    const logged = { ...fakeIo(), ask: async () => "one two three" };
    await readNewPassphrase({ encrypt: true }, logged);
    expect(logged.written.err).toBe("");
  });

  it.each([[["a", "b"]], [["correct horse", "correct hose"]], [["", ""]], [[null]]])(
    "the passphrase of a new backup is refused if typed as %j",
    async (lines) => {
      const { io } = typeLines(...lines);
      await expect(readNewPassphrase({ encrypt: true }, io)).rejects.toMatchObject({ kind: "usage" });
    },
  );

  it("the passphrase of a new backup has at least 8 characters, from any source", async () => {
    await using folder = await temporaryFolder();
    const passphraseFile = join(folder.path, "p");
    writeSecretFile(passphraseFile, "seven77\n");
    const { io, prompts } = typeLines("x", "x");
    const refusal = {
      kind: "usage",
      message: "The passphrase has fewer than 8 characters, so others could find it. Nothing was written.",
      hint: "Use six random words, or let a password manager make one.",
    };
    const env = { ARMOIRE_BACKUP_PASSPHRASE: "👙👙👙👙👙👙👙" };
    for (const reading of [
      readNewPassphrase({ encrypt: true }, io),
      readNewPassphrase({ encrypt: true, passphraseFile }, io),
      readNewPassphrase({ encrypt: true }, { ...fakeIo(), env }),
    ])
      await expect(reading).rejects.toMatchObject(refusal);
    // Before it is to be repeated.
    expect(prompts).toHaveLength(1);
  });

  it("the passphrase of an existing backup may be short", async () => {
    const { io } = typeLines("x");
    expect(await passphraseAsker({}, io)()).toBe("x");
  });

  it("the passphrase of a new backup is not prompted for without --encrypt", async () => {
    const { io, prompts } = typeLines("x", "x");
    expect(await readNewPassphrase({}, io)).toEqual({});
    expect(prompts).toEqual([]);
  });

  it("the passphrase of a new backup comes from a file, else the environment, else a prompt, without the last line end", async () => {
    await using folder = await temporaryFolder();
    const passphraseFile = join(folder.path, "p");
    writeSecretFile(passphraseFile, " canary-from a file \r\n");
    const io = {
      ...typeLines("typed", "typed").io,
      env: { ARMOIRE_BACKUP_PASSPHRASE: "canary-from outside" },
    };
    expect(await readNewPassphrase({ encrypt: true, passphraseFile }, io)).toEqual({
      passphrase: " canary-from a file ",
    });
    expect(await readNewPassphrase({ encrypt: true }, io)).toEqual({ passphrase: "canary-from outside" });
  });
});

it("a passphrase given as a file name is not shown", async () => {
  const reading = readNewPassphrase({ encrypt: true, passphraseFile: "canary-correct horse" }, fakeIo());
  await expect(reading).rejects.toMatchObject({
    kind: "settings",
    message: "The file of --passphrase-file does not exist.",
    hint: expect.not.stringContaining("horse"),
  });
});

describe("existing backup", () => {
  it("the passphrase of an existing backup is prompted for once, when it is needed", async () => {
    const { io, prompts } = typeLines("once");
    const ask = passphraseAsker({}, io);
    expect(prompts).toEqual([]);
    expect([await ask(), await ask()]).toEqual(["once", "once"]);
    expect(prompts).toHaveLength(1);
  });

  it("the passphrase of an existing backup is never prompted for with many backups", () => {
    expect(readKnownPassphrase({}, typeLines("x").io)).toEqual({});
  });

  it("the passphrase of an existing backup must come from a file or the environment without a terminal", async () => {
    await expect(passphraseAsker({}, fakeIo())()).rejects.toMatchObject({ kind: "settings" });
  });
});
