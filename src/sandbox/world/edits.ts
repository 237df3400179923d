/**
 * Edits of a world: entities change, appear, disappear, return and move. An edit is chosen first and applied later, so
 * that the affected resources can be read before and after.
 */
import type { Random } from "../random.ts";
import { addBras, createBrand, createModel, createSize, modelTypes } from "./create-world.ts";
import { brandName, modelName } from "./names.ts";
import { bandSteps, cupSteps, maxSizes, sizeLabel } from "./sizing.ts";
import { type Brand, isLive, isModel, isSize, type Model, type Size, type World } from "./world.ts";

export type EditAction = "change" | "addition" | "removal" | "return" | "move";
export const entityKinds = ["brand", "model", "size"] as const;
export type EntityKind = (typeof entityKinds)[number];
export type Entity = Brand | Model | Size;

export interface Edit {
  /** The only affected brand, and model if there is one; null for a new brand. */
  readonly brand: Brand | null;
  readonly model: Model | null;
  /** Whether lists of other brands contain it. */
  readonly concernsOtherBrands: boolean;
  readonly apply: () => void;
  /** The model that moves within its brand's list; null for all other edits. */
  readonly moves: Model | null;
}

export interface EditContext {
  readonly world: World;
  readonly random: Random;
  /** The `last_modified_at` of changed entities. */
  readonly date: string;
  /** Entities already chosen to return. */
  readonly returning: Set<Entity>;
  /** Those that are not gone. */
  readonly living: (kind: EntityKind) => readonly Entity[];
}

/** @returns null if the world has no candidate */
export function chooseEdit(context: EditContext, action: EditAction, kind: EntityKind): Edit | null {
  return choosers[action](context, kind);
}

const choosers: Record<EditAction, (context: EditContext, kind: EntityKind) => Edit | null> = {
  change(context, kind) {
    const { random, date, living } = context;
    const entity = pickOne(random, living(kind));
    if (!entity) return null;
    const apply = (): void => {
      entity.lastModifiedAt = date;
      if (isSize(entity)) changeSize(entity, random);
      else if (isModel(entity)) changeModel(entity, random);
      else changeBrand(entity, random);
    };
    return within(entity, apply);
  },

  addition(context, kind) {
    const { random, world, date } = context;
    if (kind === "brand") {
      const apply = (): void => {
        const brand = createBrand(world, date);
        for (let models = random.integer(3); models > 0; models--) addModel(context, brand);
      };
      return { brand: null, model: null, concernsOtherBrands: true, moves: null, apply };
    }
    if (kind === "model") {
      const brand = pickOne(random, world.brands.filter(isLive));
      return brand ? within(brand, () => addModel(context, brand)) : null;
    }
    const roomy = (model: Model): boolean => isLive(model) && model.sizes.length < maxSizes;
    const model = pickOne(random, world.models.filter(roomy));
    return model ? within(model, () => addSize(context, model)) : null;
  },

  removal({ random, living }, kind) {
    const entity = pickOne(random, living(kind));
    return entity ? within(entity, () => setGone(entity, true)) : null;
  },

  return({ random, world, date, returning }, kind) {
    const canReturn = (entity: Entity): boolean =>
      entity.isGone &&
      !returning.has(entity) &&
      (isSize(entity) ? isLive(entity.model) : !isModel(entity) || isLive(entity.brand));
    const all: readonly Entity[] = everything(world, kind);
    const entity = pickOne(random, all.filter(canReturn));
    if (!entity) return null;
    returning.add(entity);
    return within(entity, () => {
      entity.lastModifiedAt = date;
      setGone(entity, false);
    });
  },

  move({ random, world }) {
    const brand = pickOne(
      random,
      world.brands.filter((candidate) => isLive(candidate) && candidate.models.filter(isLive).length > 1),
    );
    if (!brand) return null;
    const moves = random.pick(brand.models.filter(isLive));
    const apply = (): void => {
      const others = brand.models.filter((model) => model !== moves);
      const from = brand.models.indexOf(moves);
      const to = (from + 1 + random.integer(others.length)) % brand.models.length;
      others.splice(to, 0, moves);
      brand.models.splice(0, brand.models.length, ...others);
    };
    return { ...within(moves, apply), moves };
  },
};

function within(entity: Entity, apply: () => void): Edit {
  const model = isSize(entity) ? entity.model : isModel(entity) ? entity : null;
  const isBrand = !isSize(entity) && !isModel(entity);
  const brand = isSize(entity) ? entity.model.brand : isModel(entity) ? entity.brand : entity;
  return { brand, model, concernsOtherBrands: isBrand, moves: null, apply };
}

function everything(world: World, kind: EntityKind): readonly Entity[] {
  return kind === "brand" ? world.brands : kind === "model" ? world.models : world.sizes;
}

/** Looks through all entities of a kind only once, so what it returns must not be used after edits that are no changes. */
export function livingEntities(world: World): EditContext["living"] {
  const found = new Map<EntityKind, readonly Entity[]>();
  return (kind) => {
    const entities = found.get(kind) ?? everything(world, kind).filter(isLive);
    found.set(kind, entities);
    return entities;
  };
}

function pickOne<Item>(random: Random, items: readonly Item[]): Item | null {
  return items.length === 0 ? null : random.pick(items);
}

function setGone(entity: Entity, isGone: boolean): void {
  entity.isGone = isGone;
  const sign = isGone ? -1 : 1;
  if (isSize(entity)) addBras(entity.model, sign * entity.braCount);
  else if (isModel(entity)) entity.brand.braCount += sign * entity.braCount;
}

function addModel(context: EditContext, brand: Brand): void {
  const { random, world, date } = context;
  const model = createModel(world, brand, date, random.integer(brand.models.length + 1));
  for (let sizes = random.integer(4); sizes > 0; sizes--) addSize(context, model);
}

function addSize({ random, world, date }: EditContext, model: Model): void {
  const start = random.integer(maxSizes);
  for (let offset = 0; offset < maxSizes; offset++) {
    const place = (start + offset) % maxSizes;
    const cell = { bandStep: place % bandSteps, cupStep: Math.floor(place / bandSteps) % cupSteps };
    if (!model.sizeByLabel.has(sizeLabel(cell, model.brand.system))) {
      createSize(world, model, cell, date);
      return;
    }
  }
}

function changeBrand(brand: Brand, random: Random): void {
  const name = brandName(random.integer(1_000), random);
  const draw = random.next();
  if (draw < 0.3 && name !== brand.name) brand.name = name;
  else if (draw < 0.6) brand.twitter = brand.twitter === null ? `@${brand.slug}` : null;
  else brand.logoVersion++;
}

function changeModel(model: Model, random: Random): void {
  const name = modelName(random.integer(1_000), random);
  const draw = random.next();
  if (draw < 0.3 && name !== model.name) model.name = name;
  else if (draw < 0.5) model.isDiscontinued = !model.isDiscontinued;
  else if (draw < 0.7) model.type = random.pick(modelTypes.filter((type) => type !== model.type));
  else model.stockPictures++;
}

function changeSize(size: Size, random: Random): void {
  if (random.chance(0.2)) {
    size.pictureVersion++;
    return;
  }
  const more = 1 + random.integer(3);
  size.braCount += more;
  addBras(size.model, more);
}
