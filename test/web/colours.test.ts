/** Whether people who are colour-blind can tell the colours of maps and charts apart. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const css = readFileSync(join(import.meta.dirname, "../../src/web/assets/web-style.css"), "utf8");
const [light = "", dark = ""] = [...css.matchAll(/:root \{(.*?)\}/gs)].map(([, properties]) => properties);

type Triple = readonly [number, number, number];

/** Each row makes a component of the seen colour from red, green and blue light (Machado, Oliveira and Fernandes, 2009). */
const sights: Readonly<Record<string, readonly [Triple, Triple, Triple]>> = {
  "all colours": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  "no red (protanopia)": [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  "no green (deuteranopia)": [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  "no blue (tritanopia)": [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const sum = (factors: Triple, [a, b, c]: Triple) => factors[0] * a + factors[1] * b + factors[2] * c;

/** The amounts of light, from 0 to 1. */
function lightOf(colour: string): Triple {
  const amount = (at: number) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [amount(1), amount(3), amount(5)];
}

/** Lightness and two hues, in which equal distances look alike (Oklab). */
function lookOf(seen: Triple): Triple {
  const cones: Triple = [
    Math.cbrt(sum([0.4122214708, 0.5363325363, 0.0514459929], seen)),
    Math.cbrt(sum([0.2119034982, 0.6806995451, 0.1073969566], seen)),
    Math.cbrt(sum([0.0883024619, 0.2817188376, 0.6299787005], seen)),
  ];
  return [
    sum([0.2104542553, 0.793617785, -0.0040720468], cones),
    sum([1.9779984951, -2.428592205, 0.4505937099], cones),
    sum([0.0259040371, 0.7827717662, -0.808675766], cones),
  ];
}

/** In percent of the distance from black to white. */
function differencesOf(colours: readonly string[], rows: readonly [Triple, Triple, Triple]): number[] {
  const looks = colours.map((colour) => {
    const [red, green, blue] = rows.map((row) => Math.min(1, Math.max(0, sum(row, lightOf(colour)))));
    return lookOf([red ?? 0, green ?? 0, blue ?? 0]);
  });
  return looks
    .slice(1)
    .map((look, n) => 100 * Math.hypot(...look.map((value, at) => value - (looks[n]?.[at] ?? 0))));
}

const colourOf = (properties: string, name: string): string =>
  new RegExp(`--${name}: (#[\\da-f]{6});`).exec(properties)?.[1] ?? "";

describe.each([
  { scheme: "light", properties: light },
  { scheme: "dark", properties: dark },
])("in $scheme colours", ({ properties }) => {
  it.each(Object.entries(sights))("people who see %s tell series and shades apart", (_sight, rows) => {
    const colours = (...names: readonly string[]) => names.map((name) => colourOf(properties, name));
    const [series = 0] = differencesOf(colours("chart-1", "chart-2"), rows);
    expect(series).toBeGreaterThan(10);
    const shades = colours("card", ...[1, 2, 3, 4, 5, 6, 7].map((shade) => `h${shade}`));
    for (const difference of differencesOf(shades, rows)) expect(difference).toBeGreaterThan(4.5);
  });

  it("the shades of a map go from the page's colour to its opposite", () => {
    const lightness = ["card", "h1", "h2", "h3", "h4", "h5", "h6", "h7"].map(
      (name) => lookOf(lightOf(colourOf(properties, name)))[0],
    );
    const [first = 0, second = 0] = lightness;
    const direction = Math.sign(second - first);
    expect(lightness).toEqual(lightness.toSorted((a, b) => direction * (a - b)));
  });
});
