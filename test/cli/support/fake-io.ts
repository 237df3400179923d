/** An `Io` that records its output. */
import type { Io } from "../../../src/cli/terminal/io.ts";

export interface FakeIo extends Io {
  readonly written: { out: string; err: string };
}

export function fakeIo(parts: Partial<Pick<Io, "env" | "isTerminal" | "columns">> = {}): FakeIo {
  const written = { out: "", err: "" };
  return {
    ...{ env: {}, isTerminal: false, columns: 80, screen: null, ...parts },
    written,
    ask: null,
    readInput: () => Promise.resolve(""),
    out: (text) => {
      written.out += text;
    },
    hasReader: () => true,
    err: (text) => {
      written.err += text;
    },
    rewriteLine: (text) => {
      written.err += `\r\u001b[2K${text}`;
    },
    setExitCode: () => {},
    onInterrupt: () => {},
  };
}
