/**
 * Compiles typed queries while the program is bundled, so that it loads Kysely only for migrations. In: the JavaScript of a
 * module. Out: the same with SQL in place of each query, such as `prepare(db, (p) => q.selectFrom("brand").select("name"))`.
 */
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ESTree, parseSync } from "rolldown/utils";

type Node = ESTree.Node;

const queryBuilder = pathToFileURL(join(import.meta.dirname, "../src/mirror/queries/query-builder.ts")).href;
const evaluated = "?statements";
/** By address: the module with an export of its texts. */
const sources = new Map<string, string>();

registerHooks({
  load(url, context, nextLoad) {
    const source = sources.get(url);
    return source === undefined ? nextLoad(url, context) : { format: "module", source, shortCircuit: true };
  },
});

export async function compileStatements(code: string, id: string): Promise<string> {
  const builders = /\bprepare(Column)?\(/.test(code) ? findBuilders(code, id) : [];
  if (builders.length === 0) return code;
  const url = pathToFileURL(id).href + evaluated;
  const texts = builders.map(({ start, end }) => `compileText(${code.slice(start, end)})`);
  sources.set(
    url,
    `${code}\nimport { compileText } from "${queryBuilder}";\nexport const statementTexts = [${texts.join(",\n")}];`,
  );
  const { statementTexts }: { statementTexts: readonly string[] } = await import(url);
  return builders
    .map((builder, index) => ({ ...builder, text: JSON.stringify(statementTexts[index]) }))
    .reverse()
    .reduce((rest, { start, end, text }) => rest.slice(0, start) + text + rest.slice(end), code);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** The functions passed to `prepare`. @throws Error if one stands elsewhere or uses a variable of a function around it */
function findBuilders(code: string, id: string): Range[] {
  const builders: Range[] = [];
  /** @param local names of the functions around the node */
  function visit(node: Node, local: ReadonlySet<string>): void {
    const inner = isFunction(node) ? new Set([...local, ...namesDeclaredIn(node)]) : local;
    const [, builder] = node.type === "CallExpression" ? node.arguments : [];
    const isPrepared =
      node.type === "CallExpression" &&
      node.callee.type === "Identifier" &&
      /^prepare(Column)?$/.test(node.callee.name);
    if (isPrepared && builder !== undefined) {
      if (!isFunction(builder)) throw new Error(`A statement in ${id} is not written where it is prepared.`);
      const own = namesDeclaredIn(builder);
      const foreign = namesUsedIn(builder).filter((name) => !own.has(name) && inner.has(name));
      if (foreign.length > 0)
        throw new Error(`A statement in ${id} depends on ${foreign.join(", ")}: make them its parameters.`);
      builders.push({ start: builder.start, end: builder.end });
    }
    for (const child of childrenOf(node)) visit(child, inner);
  }
  visit(parseSync(id, code, { lang: "js" }).program as Node, new Set());
  return builders;
}

const isFunction = ({ type }: Node) =>
  ["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"].includes(type);

function childrenOf(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter((value): value is Node => typeof value === "object" && value !== null && "type" in value);
}

/** Of parameters, variables, functions and classes, also of blocks and functions inside. */
function namesDeclaredIn(node: Node): Set<string> {
  const names = new Set<string>();
  const addPattern = (pattern: Node): void => {
    if (pattern.type === "Identifier") names.add(pattern.name);
    else if (pattern.type === "Property") addPattern(pattern.value);
    else if (pattern.type === "AssignmentPattern") addPattern(pattern.left);
    else childrenOf(pattern).forEach(addPattern);
  };
  const visit = (one: Node): void => {
    if ("params" in one && Array.isArray(one.params)) one.params.forEach(addPattern);
    if (one.type === "VariableDeclarator" || one.type === "CatchClause")
      addPattern(one.type === "CatchClause" ? (one.param ?? one.body) : one.id);
    if ((one.type === "FunctionDeclaration" || one.type === "ClassDeclaration") && one.id !== null)
      names.add(one.id.name);
    childrenOf(one).forEach(visit);
  };
  visit(node);
  return names;
}

/** Also names of properties that are written without quotes: a statement with one that is a local name, too, is refused. */
function namesUsedIn(node: Node): string[] {
  if (node.type === "Identifier") return [node.name];
  if (node.type === "MemberExpression" && !node.computed) return namesUsedIn(node.object);
  if (node.type === "Property" && !node.computed) return namesUsedIn(node.value);
  return childrenOf(node).flatMap(namesUsedIn);
}
