import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Prints the packages that the library loads when it is imported. */
const script = `
import { registerHooks } from "node:module";
const packages = new Set();
registerHooks({
  load(url, context, next) {
    const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) packages.add(name);
    return next(url, context);
  },
});
await import("./src/index.ts");
console.log(JSON.stringify([...packages]));
`;

it("importing the library loads neither Redis clients nor the dashboard", () => {
  const cwd = join(import.meta.dirname, "../..");
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd });
  const packages = JSON.parse(String(output));
  expect(packages).toContain("undici");
  expect(packages.filter((name: string) => /^(?:bullmq|ioredis|hono|@hono|@bull-board)/.test(name))).toEqual(
    [],
  );
});
