/** Bundles the type declarations of the package: one file for each of its exports. */
import { defineConfig } from "rolldown";
import { dts } from "rolldown-plugin-dts";

export default defineConfig({
  platform: "node",
  external: /^[^./]/,
  input: { index: "./src/index.ts", sandbox: "./src/sandbox/sandbox.ts" },
  // Declarations do nothing when they are imported: without this, imports whose names are not used would stay.
  treeshake: { moduleSideEffects: false },
  output: { dir: "dist" },
  plugins: [dts({ emitDtsOnly: true, generator: "tsgo" })],
  // The bundler mentions that most of the time is the compiler's.
  checks: { pluginTimings: false },
});
