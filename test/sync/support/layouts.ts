/** Two layouts of the same catalogue: a crawl that follows links works with both (invariant 1, "follow, never build"). */
import type { SandboxOptions } from "../../../src/sandbox/options.ts";

export const layouts: readonly { readonly name: string; readonly options: SandboxOptions }[] = [
  { name: "the specification's layout", options: { layout: "plain", pagination: "page" } },
  {
    name: "opaque paths, cursors and another service name",
    options: { layout: "opaque", pagination: "cursor", serviceName: "other" },
  },
];
