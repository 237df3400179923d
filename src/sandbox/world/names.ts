/** Ordinary names mixed with names that careless programs mishandle. */
import type { Random } from "../random.ts";

/** Formulas, quotes, line breaks, markup, many scripts, both directions, combining and joined characters. */
const awkwardNames: readonly string[] = [
  'Anna "the Fit" Corsetry',
  "=1+1",
  "Plié, Soft & Co.",
  "日本の下着",
  "Two\nLines",
  "مشد الورد",
  "@home",
  "👙 Swim 🏳️‍🌈",
  "O'Hara; DROP TABLE brand;--",
  "Дарья",
  "e\u0301toile du soir",
  "תחרה לבנה",
  "<b>Bold</b> & <script>alert(1)</script>",
  "-2+3|cmd",
  "ลูกไม้",
  "line\r\nbreak",
  "हिन्दी चोली",
  "+Plus",
  "한국 브라",
  "\ttabbed",
  "null",
  "ΩΜΕΓΑ\u0301",
  "＝SUM(A1)",
  "  spaces  ",
  "\u202Eright to left\u202C",
  "C:\\back\\slash",
  "100%s %n",
  "../up/../..",
  "İstanbul ßtraße",
  "012",
];

const brandStems =
  "Ada Bel Cora Dori Ella Flor Gis Hana Ines Juno Kira Lis Mira Nora Oda Pia Rosa Sia Tess Una".split(" ");
const brandEndings =
  "belle line luna mode moda nique rose sense sil soie ta tique velle via vogue wear".split(" ");
const brandSuffixes = ["", "", "", " Lingerie", " Paris", " & Sons", " Intimates", " Atelier"];
const modelNames =
  "Alina Bianca Carmen Delia Elena Freya Gloria Helena Irina Jasmine Katya Lucia Marion Nadia Olivia Paloma Rita Sofia Thea Ursula Vera Wilma Xenia Yvonne Zoe".split(
    " ",
  );
const modelLines =
  "Basic Bloom Classic Dream Eclipse Flirt Grace Honey Icon Jewel Lace Mesh Nude Onyx Pearl Silk Smooth Velvet".split(
    " ",
  );
const modelCuts = [
  "",
  " Balconette",
  " Plunge",
  " Full Cup",
  " Half Cup",
  " Bralette",
  " Sport",
  " Longline",
];

/** The name of the brand with this number; every fourth is awkward. */
export function brandName(id: number, random: Random): string {
  if (id % 4 === 2) return awkwardNames[(id >> 2) % awkwardNames.length] ?? "";
  return random.pick(brandStems) + random.pick(brandEndings) + random.pick(brandSuffixes);
}

/** The name of the model with this number; every seventh is awkward. */
export function modelName(id: number, random: Random): string {
  if (id % 7 === 3) return awkwardNames[Math.floor(id / 7) % awkwardNames.length] ?? "";
  return `${random.pick(modelNames)} ${random.pick(modelLines)}${random.pick(modelCuts)}`;
}

/** A name's Latin letters and digits joined by hyphens, or `fallback` if it has none; a number makes it unique. */
export function uniqueSlug(name: string, fallback: string, isTaken: (slug: string) => boolean): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const slug = plain === "" ? fallback : plain;
  if (!isTaken(slug)) return slug;
  for (let number = 2; ; number++) {
    if (!isTaken(`${slug}-${number}`)) return `${slug}-${number}`;
  }
}
