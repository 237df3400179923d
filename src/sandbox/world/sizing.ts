/** Sizing systems, and one size's label in each of them. */

export interface SizingSystem {
  readonly label: string;
  readonly name: string;
  /** The band's number at a step of the grid. */
  readonly band: (step: number) => number;
  /** The label of each cup, by step of the grid. */
  readonly cups: readonly string[];
}

const continentalCups = "AA A B C D E F G H I J K L M N O".split(" ");
const britishCups = "AA A B C D DD E F FF G GG H HH J JJ K".split(" ");

/** Band step 0 is 55 in the European system. */
export const sizingSystems: readonly SizingSystem[] = [
  { label: "EU", name: "European", band: (step) => 55 + step * 5, cups: continentalCups },
  { label: "UK", name: "British", band: (step) => 26 + step * 2, cups: britishCups },
  { label: "FR", name: "French", band: (step) => 70 + step * 5, cups: continentalCups },
  { label: "US", name: "American", band: (step) => 26 + step * 2, cups: continentalCups },
  { label: "AU", name: "Australian", band: (step) => 4 + step * 2, cups: britishCups },
  { label: "IT", name: "Italian", band: (step) => 1 + step, cups: continentalCups },
];

export const bandSteps = 16;
export const cupSteps = continentalCups.length;
/** The sizes that one model can have. */
export const maxSizes = bandSteps * cupSteps;

/** A cell of the grid of bands and cups; each system labels it differently. */
export interface GridCell {
  readonly bandStep: number;
  readonly cupStep: number;
}

export function cupLabel(cell: GridCell, system: SizingSystem): string {
  return system.cups[cell.cupStep] ?? "";
}

export function sizeLabel(cell: GridCell, system: SizingSystem): string {
  return `${system.band(cell.bandStep)}${cupLabel(cell, system)}`;
}

/** Sizing-system label → the size's label in it, for every other system. */
export function alternativeSizes(cell: GridCell, own: SizingSystem): Record<string, string> {
  const others = sizingSystems.filter((system) => system !== own);
  return Object.fromEntries(others.map((system) => [system.label, sizeLabel(cell, system)]));
}

export function areAdjacent(one: GridCell, other: GridCell): boolean {
  return Math.abs(one.bandStep - other.bandStep) + Math.abs(one.cupStep - other.cupStep) === 1;
}
