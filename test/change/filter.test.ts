/** Filters of changes by field and brand. */
import { describe, expect, it } from "vitest";
import type { Change, FieldChange } from "../../src/change/change.ts";
import {
  type ChangeFilter,
  filterChange,
  isOfChosen,
  noFilter,
  parseFilter,
} from "../../src/change/filter.ts";

const about = { kind: "model", href: "m", name: "M" };
const row = { href: "m", gone_at: "2026" };
const name: FieldChange = { field: "name", before: "L", after: "M" };
const time: FieldChange = { field: "last_modified_at", before: "1", after: "2" };

const added: Change = { ...about, change: "added", row };
const removed: Change = { ...about, change: "removed", isTombstone: true, row, fields: [name] };
const revived: Change = { ...about, change: "revived", goneAt: "2026", row, fields: [] };
const changed: Change = { ...about, change: "changed", fields: [name, time] };
const touched: Change = { ...about, change: "touched", fields: [time] };
const all = [added, removed, revived, changed, touched];

/** As `word: fields`. */
function filteredChanges(filter: Partial<ChangeFilter>): string[] {
  return all.flatMap((change) => {
    const filtered = filterChange({ ...noFilter, ...filter }, { isWhole: true }, change);
    if (filtered === null) return [];
    const fields = filtered.change === "added" ? [] : filtered.fields.map(({ field }) => field);
    return [`${filtered.change}: ${fields.join(" ")}`];
  });
}

describe("fields", () => {
  it.each<[behaviour: string, filter: Partial<ChangeFilter>, expected: string[]]>([
    [
      "keeps all changes if it is empty",
      {},
      [
        "added: ",
        "removed: name",
        "revived: ",
        "changed: name last_modified_at",
        "touched: last_modified_at",
      ],
    ],
    [
      "with a field keeps the changes of that field, also of a removed resource",
      { fields: ["name"] },
      ["changed: name", "changed: name"],
    ],
    ["with gone_at keeps removed and revived resources", { fields: ["gone_at"] }, ["removed: ", "revived: "]],
    [
      "without gone_at drops removed and revived resources, unless another field changed",
      { ignored: ["gone_at"] },
      ["added: ", "changed: name", "changed: name last_modified_at", "touched: last_modified_at"],
    ],
    [
      "turns a change into a touch if only the time remains",
      { ignored: ["name"] },
      ["added: ", "removed: ", "revived: ", "touched: last_modified_at", "touched: last_modified_at"],
    ],
    [
      "drops changes without remaining fields",
      { ignored: ["last_modified_at"] },
      ["added: ", "removed: name", "revived: ", "changed: name"],
    ],
    [
      "with words keeps the changes of these words",
      { words: ["added", "removed"] },
      ["added: ", "removed: name"],
    ],
    [
      "compares words after it has dropped fields",
      { words: ["touched"], ignored: ["name"] },
      ["touched: last_modified_at", "touched: last_modified_at"],
    ],
  ])("a filter %s", (_behaviour, filter, expected) => {
    expect(filteredChanges(filter)).toEqual(expected);
  });
});

describe("brands and models", () => {
  const named = {
    brands: () => [
      { href: "u:eh", names: ["EH Paris", "eh-paris"] },
      { href: "u:eclat", names: ["Éclat Ħal", "eclat"] },
      { href: "u:namesake", names: ["eclat", "eclat-2"] },
    ],
    models: () => [
      { href: "u:lupine", names: ["Lupine (12)", "Lupine", "12", "lupine", "eh-paris/lupine"] },
      { href: "u:other", names: ["Lupine (7)", "Lupine", "7", "lupine", "eclat/lupine"] },
    ],
  };
  const hrefsOf = (brand: string) => parseFilter({ brands: [brand] }, [], named).brandHrefs;
  const modelHrefsOf = (model: string) => parseFilter({ models: [model] }, [], named).modelHrefs;

  it.each([
    ["u:eh", "u:eh"],
    ["EH-PARIS", "u:eh"],
    ["eh paris", "u:eh"],
    ["eclat Ħal", "u:eclat"],
    ["ECLAT-HAL", "u:eclat"],
    ["eclat", "u:eclat"],
  ])("the brand of a filter may be written %s", (brand, href) => {
    expect(hrefsOf(brand)).toEqual([href]);
  });

  it.each([
    ["u:lupine", ["u:lupine"]],
    ["EH Paris/Lupine", ["u:lupine"]],
    ["eclat › lupine", ["u:other"]],
    ["7", ["u:other"]],
    ["LUPINE", ["u:lupine", "u:other"]],
  ])("the model of a filter may be written %s", (model, hrefs) => {
    expect(modelHrefsOf(model)).toEqual(hrefs);
  });

  it("a filter of models keeps these models and their sizes", () => {
    const filter = { ...noFilter, modelHrefs: ["u:lupine"] };
    const isKept = (name: string, href: string, owner: string) => {
      const kind = {
        name,
        fields: ["model_href"],
        columns: null,
        lists: [],
        hasTombstones: true,
        isWhole: true,
      };
      return isOfChosen(filter, kind, { href, goneAt: null, values: [owner] });
    };
    expect(isKept("model", "u:lupine", "")).toBe(true);
    expect(isKept("size", "u:size", "u:lupine")).toBe(true);
    expect(isKept("size", "u:size", "u:other")).toBe(false);
    expect(isKept("brand", "u:eh", "")).toBe(false);
  });

  it("the model of a filter is refused if it is unknown, with similar names", () => {
    expect(() => modelHrefsOf("Lupin")).toThrow(
      expect.objectContaining({ hint: 'Did you mean "Lupine (7)" or "Lupine (12)"?' }),
    );
  });

  it("the brand of a filter is refused if it is unknown, with similar names", () => {
    expect(() => hrefsOf("EH Parus")).toThrow(expect.objectContaining({ hint: 'Did you mean "EH Paris"?' }));
  });
});
