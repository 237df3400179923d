/**
 * Counts the branches that run. In: this project's sources, as Node loads them. Out: the same code with a counter in each branch.
 * V8's own coverage takes a tenth of a second to read, longer than a thousand inputs.
 */
import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

export interface Coverage {
  /** The features since the last call: branches that have run, each with the magnitude of its count. */
  take(): number[];
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}
type Insertion = readonly [at: number, text: string];

const magnitudes = 32;
export const branchOf = (feature: number) => Math.floor(feature / magnitudes);
const maxBranches = 1 << 16;
const counters = new Uint32Array(maxBranches);
let branches = 0;

/** Counts in all of the project's files that are loaded later. */
export function startCoverage(): Coverage {
  Object.assign(globalThis, { fuzzCounters: counters });
  registerHooks({
    load(url, context, nextLoad) {
      if (!isOwn(url)) return nextLoad(url, context);
      const source = stripTypeScriptTypes(readFileSync(fileURLToPath(url), "utf8"));
      return { format: "module", source: withCounters(source), shortCircuit: true };
    },
  });
  return {
    take() {
      const taken: number[] = [];
      for (let n = 0; n < branches; n++) {
        const count = counters[n] ?? 0;
        if (count > 0) taken.push(n * magnitudes + Math.floor(Math.log2(count)));
      }
      counters.fill(0, 0, branches);
      return taken;
    },
  };
}

const isOwn = (url: string) =>
  url.startsWith("file:") &&
  /\/(?:schema|src|jobs|exports)\/.+\.ts$/.test(url) &&
  !url.includes("/node_modules/");

function withCounters(source: string): string {
  const insertions: Insertion[] = [];
  visit(parseAst(source, { lang: "js" }), insertions);
  // The sort is stable: at one place, outer parts come before inner ones, and ends before beginnings.
  insertions.sort(([a], [b]) => a - b);
  let text = "";
  let from = 0;
  for (const [at, inserted] of insertions) {
    text += source.slice(from, at) + inserted;
    from = at;
  }
  return text + source.slice(from);
}

const count = () => `fuzzCounters[${branches++}]++`;

function visit(part: unknown, insertions: Insertion[]): void {
  if (typeof part !== "object" || part === null) return;
  const node = part as Record<string, unknown> & Partial<Node>;
  const inBlock = (value: unknown) => {
    const statement = value as Node | null;
    if (statement === null || statement.type === "BlockStatement") return;
    insertions.push([statement.start, `{${count()};`]);
    closings.push([statement.end, "}"]);
  };
  const inParentheses = (value: unknown) => {
    const expression = value as Node;
    insertions.push([expression.start, `(${count()},`]);
    closings.push([expression.end, ")"]);
  };
  const closings: Insertion[] = [];
  switch (node.type) {
    case "BlockStatement":
      insertions.push([(node.start ?? 0) + 1, `${count()};`]);
      break;
    case "IfStatement":
      inBlock(node.consequent);
      inBlock(node.alternate ?? null);
      break;
    case "ForStatement":
    case "ForOfStatement":
    case "ForInStatement":
    case "WhileStatement":
      inBlock(node.body);
      break;
    case "SwitchCase": {
      const [first] = node.consequent as Node[];
      if (first !== undefined) insertions.push([first.start, `${count()};`]);
      break;
    }
    case "ConditionalExpression":
      inParentheses(node.consequent);
      inParentheses(node.alternate);
      break;
    case "LogicalExpression":
      inParentheses(node.right);
      break;
    case "ArrowFunctionExpression":
      if ((node.body as Node).type !== "BlockStatement") inParentheses(node.body);
      break;
  }
  for (const child of Object.values(node)) visit(child, insertions);
  insertions.push(...closings);
}
