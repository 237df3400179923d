/** Clients of the service that this project did not write: Python's urllib, curl, and the cache of undici. */
import { execFile, spawnSync } from "node:child_process";
import diagnostics from "node:diagnostics_channel";
import { join } from "node:path";
import { promisify } from "node:util";
import { Agent, interceptors, request } from "undici";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { servedBodies } from "./support/compare-mirrors.ts";
import { authorization, key, type ServedApi, serveApi } from "./support/serve-api.ts";

const run = promisify(execFile);
const isMissing = (program: string) => spawnSync(program, ["--version"]).error !== undefined;

let rig: Rig;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let api: ServedApi;
let expected: Readonly<Record<string, string>>;
beforeAll(async () => {
  rig = await startRig({ brands: 2, models: 3, sizes: 6, pageSize: 2 });
  folder = await temporaryFolder();
  const account = join(folder.path, "account.sqlite");
  await rig.sync();
  const credential = bearerToken(rig.sandbox.users[0]?.token ?? "");
  await rig.sync({ file: account, area: "account", credential });
  api = await serveApi({ findCatalogue: () => rig.file, findAccount: () => account, clock: rig.clock });
  expected = servedBodies([rig.file, account], api.origin);
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
  await rig[Symbol.asyncDispose]();
});

/** Follows every address in a body, and asks for each body twice: as any client, and on condition that it has changed. */
const crawler = `
import json, sys, urllib.error, urllib.request
root, token = sys.argv[1:]
def get(url, **headers):
    headers["Authorization"] = "bearer " + token
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
            return response.status, response.read().decode(), response.headers["ETag"]
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(), None
def addresses(value):
    if isinstance(value, str) and value.startswith(root): yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from addresses(part)
waiting, bodies, others, conditional = [root], {}, set(), set()
for url in waiting:
    status, body, tag = get(url)
    if status != 200:
        others.add(status)
        continue
    bodies[url] = body
    if tag: conditional.add(get(url, **{"If-None-Match": tag})[0])
    waiting += [found for found in dict.fromkeys(addresses(json.loads(body))) if found not in waiting]
print(json.dumps({"bodies": bodies, "others": sorted(others), "conditional": sorted(conditional)}))
`;

it.skipIf(isMissing("python3"))(
  "urllib reads all that is held, and 304 where nothing has changed",
  async () => {
    const { stdout } = await run("python3", ["-c", crawler, `${api.origin}/`, key], { maxBuffer: 2 ** 26 });
    const { bodies, others, conditional } = JSON.parse(stdout);
    // The resource of the rate limit is the server's own.
    const read = Object.entries<string>(bodies).filter(([, body]) => !body.includes('"base":{"limit"'));
    expect(Object.fromEntries(read)).toEqual(expected);
    expect(Object.keys(expected).length).toBeGreaterThan(30);
    // Links that the sync did not follow are known and not held.
    expect({ others, conditional }).toEqual({ others: [504], conditional: [304] });
  },
);

it.skipIf(isMissing("curl"))("curl keeps a body and its tag, and gets 304 for them", async () => {
  const [url = "", body] = Object.entries(expected).at(-1) ?? [];
  const [tag, file] = ["tag", "body"].map((name) => join(folder.path, name)) as [string, string];
  const curl = async (...options: string[]) => {
    const header = `authorization: ${authorization.authorization}`;
    const args = ["--silent", "--fail", "--header", header, "--write-out", "\n%{http_code}", ...options];
    return (await run("curl", [...args, url])).stdout;
  };
  expect(await curl("--etag-save", tag)).toBe(`${body}\n200`);
  expect(await curl("--etag-compare", tag, "--output", file)).toBe("\n304");
  await expect(run("curl", ["--silent", "--fail", `${api.origin}/nothing/`])).rejects.toMatchObject({
    code: 22,
  });
});

it("the cache of undici asks again with the tag, and sends the body that it has", async () => {
  const statuses: number[] = [];
  const seen = (message: unknown) =>
    void statuses.push((message as { response: { statusCode: number } }).response.statusCode);
  diagnostics.subscribe("undici:request:headers", seen);
  const dispatcher = new Agent().compose(interceptors.cache());
  const [url = "", body] = Object.entries(expected).find(([one]) => one !== `${api.origin}/`) ?? [];
  for (let n = 0; n < 2; n++) {
    const response = await request(url, { dispatcher });
    expect([response.statusCode, await response.body.text()]).toEqual([200, body]);
  }
  expect(statuses).toEqual([200, 304]);
  diagnostics.unsubscribe("undici:request:headers", seen);
  await dispatcher.close();
});
