/**
 * Syncs a catalogue and two accounts from a sandbox with some choices, over as many days of the allowance as it takes, and
 * compares the mirrors with what the sandbox holds. Account data comes from a second sandbox with the same seed, read by a
 * plain client that follows links.
 */
import { join } from "node:path";
import { type MirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import type { SyncOptions } from "../../../src/sync/sync.ts";
import { bearer, type ReceivedEnvelope, send } from "../../sandbox/support/client.ts";
import { currentBodies } from "../../support/current-bodies.ts";
import { differencesFromTruth } from "./compare-with-truth.ts";
import { type Rig, startRig } from "./rig.ts";
import { dayMillis } from "./sync-until-complete.ts";

/** The third user lacks the scope of measurements. */
const world = { brands: 3, models: 6, sizes: 12, pageSize: 2, users: 3, allowance: 40 };
const fewOf = { bras: 5, measurements: 5 };
/** Enough for every choice. */
const mostDays = 4;

/** A mirror to sync, and how to compare it with the service. */
interface Copy {
  readonly name: string;
  readonly options: Partial<SyncOptions> & { readonly file: string };
  readonly differences: () => Promise<string[]>;
}

/** @returns all that is wrong; empty if the mirrors are exact and the requests were within the allowance */
export async function problemsWith(choices: SandboxOptions): Promise<string[]> {
  const options = { ...world, ...choices };
  await using rig = await startRig(options);
  await using twin = await startSandbox({ ...options, allowance: null, allowances: {}, emptiedLists: false });
  for (const { editUser } of [rig.sandbox, twin]) editUser("anna", fewOf);
  const copies = [catalogueCopy(rig, options), ...[0, 2].map((n) => accountCopy(rig, twin, n))];
  const problems: string[] = [];
  for (const copy of copies) {
    const found = [
      ...(await syncEverything(rig, copy, options)),
      ...(await copy.differences()),
      ...(await syncAgain(rig, copy, options)),
    ];
    problems.push(...found.map((problem) => `${copy.name}: ${problem}`));
  }
  return problems;
}

/** Syncs once a day until everything was fetched. */
async function syncEverything(rig: Rig, { options }: Copy, choices: SandboxOptions): Promise<string[]> {
  const problems: string[] = [];
  for (let day = 1; day <= mostDays; day++) {
    rig.sandbox.clearLog();
    const { resources } = await rig.sync(options);
    problems.push(...problemsOfRequests(rig, choices).map((problem) => `day ${day}: ${problem}`));
    if (resources.failed + resources.gone > 0) problems.push(`day ${day}: ${JSON.stringify(resources)}`);
    rig.sandbox.moveClock({ advanceSeconds: dayMillis / 1_000 + 1 });
    if (readMirror(options.file, countUnfetched) === 0) return problems;
  }
  return [...problems, `something was not fetched in ${mostDays} days`];
}

/** Nothing is requested twice in a day without a reason, and nothing is requested that is sure to be refused. */
function problemsOfRequests(
  { sandbox }: Rig,
  { allowanceHeaders, missingScope, emptiedLists = false }: SandboxOptions,
): string[] {
  const log = sandbox.log();
  const rateLimit = [...sandbox.truth({ optional: true })].find(({ kind }) => kind === "root")?.body.links
    .rate_limit;
  // What a list has lost is requested once more, in case it is gone.
  const repeated = log.filter(
    ({ url }, n) => !emptiedLists && url !== rateLimit && log.findIndex((entry) => entry.url === url) < n,
  );
  const refused = log.filter(({ status, counted }) => !counted && (status === 403 || status === 429));
  // Only a refusal shows the end of an allowance that no header tells.
  const allowed = allowanceHeaders === "none" ? 1 : 0;
  // A 403 may mean a scope or a spent allowance: a few requests for what answered before show which.
  const questions = missingScope === "403" ? 3 : 0;
  return [
    ...repeated.slice(questions).map(({ url }) => `${url} was requested twice`),
    ...(refused.length > allowed ? [`${refused.length} requests were refused`] : []),
  ];
}

/** Another sync of the same data, or of lists that have lost their items, loses nothing. */
async function syncAgain(rig: Rig, { options }: Copy, choices: SandboxOptions): Promise<string[]> {
  // Measurements inside a list are a part of its content, not resources that can be gone.
  const tables = choices.measurements === "inline" ? entityTables.slice(0, -1) : entityTables;
  const read = (mirror: MirrorReader): string[] => entitiesIn(mirror, tables);
  const before = readMirror(options.file, read);
  const { resources } = await rig.sync(options);
  rig.sandbox.moveClock({ advanceSeconds: dayMillis / 1_000 + 1 });
  const after = new Set(readMirror(options.file, read));
  const lost = before.filter((url) => !after.has(url));
  return [
    ...lost.map((url) => `${url} was lost`),
    ...(resources.gone > 0 ? [`${resources.gone} resources are gone`] : []),
  ];
}

const entityTables = ["brand", "model", "size", "bra", "measurement"] as const;

/** Those whose rows are current. */
function entitiesIn({ db }: MirrorReader, tables: readonly string[]): string[] {
  return tables.flatMap((table) =>
    db.prepare<[], string>(`select href from ${table} where gone_at is null`).pluck().all(),
  );
}

function countUnfetched({ db }: MirrorReader): number {
  return db.prepare<[], number>("select count(*) from _resource where state = 'due'").pluck().get() ?? 0;
}

function catalogueCopy(rig: Rig, { emptiedLists = false }: SandboxOptions): Copy {
  // A list is compared only where it stays as it was at first.
  const lists = [...rig.sandbox.truth()].filter(({ body }) => body.rel === "collection");
  const ignored = new Set(emptiedLists ? lists.map(({ url }) => url) : []);
  return {
    name: "catalogue",
    options: { file: rig.file },
    differences: async () => differencesFromTruth(rig, ignored),
  };
}

function accountCopy(rig: Rig, twin: Sandbox, n: number): Copy {
  const file = join(rig.file, "..", `account-${n}.sqlite`);
  const credential = bearerToken(rig.sandbox.users[n]?.token ?? "");
  return {
    name: `account of ${rig.sandbox.users[n]?.username}`,
    options: { file, area: "account", credential },
    async differences() {
      const expected = await accountBodies(twin, n, rig.sandbox.url);
      const held = readMirror(file, currentBodies);
      return [...new Set([...expected.keys(), ...held.keys()])]
        .filter((url) => expected.get(url) !== held.get(url))
        .map((url) => `body ${url} is ${held.get(url)} and should be ${expected.get(url)}`);
    },
  };
}

/** What a user's token reads, by URL, as if the sandbox had another base URL. */
async function accountBodies(
  { url, users }: Sandbox,
  n: number,
  baseUrl: string,
): Promise<Map<string, string>> {
  const bodies = new Map<string, string>();
  const moved = (text: string): string => text.replaceAll(url.slice(0, -1), baseUrl.slice(0, -1));

  async function visit(at: unknown): Promise<ReceivedEnvelope | null> {
    if (typeof at !== "string") return null;
    const { status, bytes } = await send(at, { headers: bearer(users[n]?.token) });
    const text = bytes.toString();
    const envelope = JSON.parse(text) as ReceivedEnvelope;
    if (status !== 200 || envelope.rel === undefined) return null;
    bodies.set(moved(at), moved(text));
    return envelope;
  }

  const root = await visit(url);
  const me = await visit(root?.links.me);
  for (const name of ["bras", "measurements"]) {
    for (let page = await visit(me?.links[name]); page !== null; page = await visit(page.meta.next))
      for (const { href } of page.collection ?? []) await visit(href);
  }
  return bodies;
}
