/**
 * Changes the world and reports the effect: every resource that changed, appeared or disappeared, found by comparing
 * the service's content before and after.
 */
import { Random, streams } from "./random.ts";
import {
  type CatalogueResource,
  readBrandAndModels,
  readModel,
  recordsOf,
  type TruthRecord,
} from "./resources/catalogue.ts";
import type { Json, SentEnvelope, View } from "./resources/view.ts";
import { stepDate } from "./world/dates.ts";
import {
  chooseEdit,
  type Edit,
  type EditAction,
  type EditContext,
  type Entity,
  type EntityKind,
  entityKinds,
  livingEntities,
} from "./world/edits.ts";
import { isLive, type Model } from "./world/world.ts";

/** Numbers of edits in each step. Default: some of every kind except returns. */
export interface AdvanceRequest {
  /** Default: 1. */
  readonly steps?: number;
  /** Entities that get another value. */
  readonly changes?: number;
  /** New entities. */
  readonly additions?: number;
  /** Entities that go. */
  readonly removals?: number;
  /** Removed entities that reappear. */
  readonly returns?: number;
  /** Models that move within their brand's list, so between its pages. */
  readonly moves?: number;
  /** Kind of the edited entities. Default: all three kinds, sizes most often. */
  readonly kind?: EntityKind;
}

export interface AdvanceReport {
  /** Number of the last step, counted from the sandbox's start. */
  readonly step: number;
  readonly actions: readonly AdvanceAction[];
}

const usualStep = { changes: 5, additions: 2, removals: 1, moves: 2 } as const;

export function advance(view: View, request: AdvanceRequest = {}): AdvanceReport {
  const { steps = 1, kind, ...given } = request;
  const {
    changes = 0,
    additions = 0,
    removals = 0,
    returns = 0,
    moves = 0,
  } = Object.keys(given).length === 0 ? { ...usualStep, returns: 0 } : given;
  const alterations: Plan = [
    ["change", changes],
    ["removal", removals],
    ["move", moves],
  ];
  const appearances: Plan = [
    ["return", returns],
    ["addition", additions],
  ];
  const actions: AdvanceAction[] = [];
  for (let count = 0; count < steps; count++) actions.push(...takeStep(view, alterations, appearances, kind));
  return { step: view.world.step, actions };
}

type Plan = readonly (readonly [action: EditAction, times: number])[];

/** Additions are chosen before any edit is applied; otherwise they would seem to have existed before. */
function takeStep(
  view: View,
  alterations: Plan,
  appearances: Plan,
  onlyKind: EntityKind | undefined,
): AdvanceAction[] {
  const { world } = view;
  const step = ++world.step;
  const random = new Random(world.seed, streams.step, step);
  const scopes = new Map<string, () => Iterable<TruthRecord>>();
  const before = new Map<string, TruthRecord>();
  const moved: AdvanceAction[] = [];
  const returning = new Set<Entity>();
  let edits = 0;

  function* choose(plan: Plan): Generator<Edit> {
    for (const [action, times] of plan) {
      let living = livingEntities(world);
      for (let done = 0; done < times; done++) {
        // Other edits remove entities or add some.
        if (action !== "change") living = livingEntities(world);
        const context = { world, random, date: stepDate(step, edits++, random), returning, living };
        const edit = chooseEditOfSomeKind(context, action, onlyKind);
        if (!edit) continue;
        remember(edit);
        yield edit;
      }
    }
  }

  function remember(edit: Edit): void {
    for (const [name, read] of scopesOf(view, edit)) {
      if (scopes.has(name)) continue;
      scopes.set(name, read);
      for (const record of read()) if (!before.has(record.url)) before.set(record.url, record);
    }
  }

  for (const { moves, apply } of choose(alterations)) {
    const from = moves ? positionOf(moves) : 0;
    apply();
    if (moves) moved.push(describeMove(view, moves, from));
  }
  for (const { apply } of [...choose(appearances)]) apply();
  const after = new Map<string, TruthRecord>();
  for (const read of scopes.values()) for (const record of read()) after.set(record.url, record);
  return [...describeChanges(before, after), ...moved];
}

/** The requested kind; else a random one, or another if that kind has no candidate. */
function chooseEditOfSomeKind(
  context: EditContext,
  action: EditAction,
  onlyKind: EntityKind | undefined,
): Edit | null {
  if (onlyKind) return chooseEdit(context, action, onlyKind);
  const draw = context.random.next();
  const first: EntityKind = draw < 0.1 ? "brand" : draw < 0.5 ? "model" : "size";
  for (const kind of [first, ...entityKinds.toReversed()]) {
    const edit = chooseEdit(context, action, kind);
    if (edit) return edit;
  }
  return null;
}

function positionOf(model: Model): number {
  return model.brand.models.filter(isLive).indexOf(model);
}

function describeMove(view: View, model: Model, from: number): AdvanceAction {
  const url = view.urlOf("model", model.id);
  return { action: "moved", kind: "model", url, fields: { position: [from, positionOf(model)] } };
}

/** The differences between two states of some resources. */

export interface AdvanceAction {
  readonly action: "changed" | "added" | "removed" | "moved";
  readonly kind: CatalogueResource["kind"];
  readonly url: string;
  /** Members of an entity's body, or of a page's `meta` and `collection`; `position` (from 0) of moved items. */
  readonly fields?: Readonly<Record<string, readonly [before: Json, after: Json]>>;
}

/** Both by URL. */
export function describeChanges(
  before: ReadonlyMap<string, TruthRecord>,
  after: ReadonlyMap<string, TruthRecord>,
): AdvanceAction[] {
  const actions: AdvanceAction[] = [];
  for (const [url, { kind, body }] of before) {
    const now = after.get(url);
    if (!now) {
      actions.push({ action: "removed", kind, url });
      continue;
    }
    const fields = changedFields(body, now.body);
    if (Object.keys(fields).length > 0) actions.push({ action: "changed", kind, url, fields });
  }
  for (const [url, { kind }] of after) if (!before.has(url)) actions.push({ action: "added", kind, url });
  return actions;
}

export function changedFields(before: SentEnvelope, after: SentEnvelope): Record<string, [Json, Json]> {
  const [left, right] = [flatten(before), flatten(after)];
  const fields: Record<string, [Json, Json]> = {};
  for (const name of Object.keys(left)) {
    const [one, other] = [left[name] ?? null, right[name] ?? null];
    if (JSON.stringify(one) !== JSON.stringify(other)) fields[name] = [one, other];
  }
  return fields;
}

function flatten({ meta, body, collection }: SentEnvelope): Record<string, Json> {
  return { ...meta, ...body, ...(collection && { collection }) };
}

/** The parts of the catalogue that an edit can change. */

/** By name, so that scopes shared by several edits are read once. A scope created before an edit also finds new resources. */
export function* scopesOf(
  view: View,
  { brand, model, concernsOtherBrands }: Edit,
): Generator<[name: string, read: () => Iterable<TruthRecord>]> {
  const { world } = view;
  yield ["brands", () => recordsOf(view, "brands", 0)];
  if (concernsOtherBrands) {
    yield [
      "related",
      function* () {
        for (const { id } of world.brands) yield* recordsOf(view, "related_brands", id);
      },
    ];
  }
  if (brand) yield [`brand ${brand.id}`, () => readBrandAndModels(view, brand)];
  if (model) yield [`model ${model.id}`, () => readModel(view, model, true)];
  const knownBrands = world.brands.length;
  const knownModels = world.models.length;
  yield [
    "new",
    function* () {
      for (const added of world.brands.slice(knownBrands)) yield* readBrandAndModels(view, added);
      for (const added of world.models.slice(knownModels)) yield* readModel(view, added, true);
    },
  ];
  if (brand && !model) {
    yield [
      `sizes of brand ${brand.id}`,
      function* () {
        for (const own of brand.models) yield* readModel(view, own, true);
      },
    ];
  }
}
