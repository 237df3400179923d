/** Bundles the program into the folder of its argument. It is a process of its own, since the tests have other imports. */
import { join } from "node:path";
import { build } from "rolldown";
import configs, { entries } from "../../rolldown.config.ts";

const [, , folder = ""] = process.argv;
const launcher = join(import.meta.dirname, "armoire-from-sources.ts");
for (const config of configs)
  await build({
    ...config,
    ...{ cwd: join(import.meta.dirname, "../.."), logLevel: "warn" },
    ...(config.input === entries && { input: { ...entries, armoire: launcher } }),
    output: { ...config.output, dir: folder },
  });
