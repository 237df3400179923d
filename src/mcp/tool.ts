import type { z } from "zod";

/** The mirror that tools read. */
export interface McpMirror {
  /** The path of its file. */
  readonly file: string;
  /** The file of the service's catalogue, readable in SQL as `catalogue.brand` and so on. Only for an account's mirror. */
  readonly catalogue?: string;
}

/** One tool of the server. It only reads. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the language model that chooses among the tools. */
  readonly description: string;
  readonly input: z.ZodObject;
  /**
   * @param input of any shape; it is checked
   * @returns plain data of limited length
   * @throws ZodError, and errors of the library
   */
  readonly run: (input: unknown, mirror: McpMirror, signal: AbortSignal) => unknown;
}

/** @param run gets an input of the shape `input` */
export function tool<Input extends z.ZodObject>(
  about: Omit<Tool, "input" | "run"> & { readonly input: Input },
  run: (input: z.output<Input>, mirror: McpMirror, signal: AbortSignal) => unknown,
): Tool {
  return {
    ...about,
    run: (input, mirror, signal) => run(about.input.parse(input), mirror, signal),
  };
}
