import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defaults } from "../../support/independent-service/options.ts";

const folder = join(import.meta.dirname, "../../support/independent-service");
const choices = readFileSync(join(folder, "CHOICES.md"), "utf8");

it("the independent service imports nothing of the project", () => {
  const imports = readdirSync(folder)
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").match(/(?<=from ")[^"]+/g) ?? []);
  expect(imports.filter((name) => !/^(node:[a-z]+|\.\/[a-z-]+\.ts)$/.test(name))).toEqual([]);
});

it("the choices of the independent service name each of its options, and their defaults", () => {
  const cells = choices.split("\n").flatMap((line) => line.split("|").at(-2) ?? []);
  for (const [name, value] of Object.entries(defaults).filter(([name]) => name !== "now")) {
    const named = cells.filter((cell) => cell.includes(`\`${name}\``));
    expect(named, name).not.toEqual([]);
    // The default is the first of the values, if they are listed.
    const first = named.map((cell) => new RegExp(`\`${name}\` ("[a-z-]+"|\\d+)`).exec(cell)?.[1]);
    for (const text of first.filter((found) => found !== undefined)) expect(text).toBe(JSON.stringify(value));
  }
});
