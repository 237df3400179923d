/** Adding accounts against a real service: who it is, what her token may see, and what is kept of whom. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountPlace } from "../../src/accounts/account.ts";
import { readAccount } from "../../src/accounts/accounts.ts";
import { readOverview } from "../../src/accounts/overview.ts";
import { removeAccount } from "../../src/accounts/remove-account.ts";
import { readToken } from "../../src/accounts/tokens/tokens.ts";
import { userOf } from "../../src/mirror/account/user.ts";
import type { SandboxOptions } from "../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { bearerToken, tokenText } from "../../src/service/credentials/credential.ts";
import { type AddAccountOptions, type AddedAccount, addAccount } from "../../src/sync/add-account.ts";
import { readWindow } from "../../src/sync/rate-limit/ledger.ts";
import { sync } from "../../src/sync/sync.ts";
import { noKeychain, someTime } from "../accounts/support/account-rig.ts";
import { memoryKeychain } from "../accounts/support/memory-keychain.ts";
import { jsonResponse, startRawServer } from "../support/raw-server.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

const small: SandboxOptions = { brands: 2, models: 4, sizes: 8, users: 5 };

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let dataDir: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  dataDir = join(folder.path, "data");
});
afterEach(() => folder[Symbol.asyncDispose]());

function add(
  name: string,
  token: string,
  more: Pick<AddAccountOptions, "baseUrl"> & Partial<AddAccountOptions>,
) {
  return addAccount({ dataDir, name, token: bearerToken(token), keychain: noKeychain, ...more });
}

const addUser = (name: string, { url, users }: Sandbox, index = 0): Promise<AddedAccount> =>
  add(name, users[index]?.token ?? "", { baseUrl: url });

describe.each([{}, { layout: "opaque", pagination: "cursor", serviceName: "other" }] as const)(
  "an account of a service with %j",
  (options) => {
    it("is the user's whom the service names, with the scopes that show", async () => {
      await using sandbox = await startSandbox({ ...small, ...options });
      const seen: Record<string, readonly string[]> = {};
      for (const index of sandbox.users.keys()) {
        const { account, isReplaced } = await addUser(`user-${index}`, sandbox, index);
        expect(isReplaced).toBe(false);
        seen[account.username ?? ""] = account.scopes;
      }
      const named = { identity: "profile", email: "email", bras: "bras", measurements: "measurements" };
      expect(seen).toEqual(
        Object.fromEntries(
          sandbox.users.map((user) => [user.username, user.scopes.map((scope) => named[scope])]),
        ),
      );
    });
  },
);

describe("an account", () => {
  it("takes two requests with its token, which its own ledger knows of", async () => {
    await using sandbox = await startSandbox({ ...small, allowance: 30 });
    const { account } = await addUser("ada", sandbox);
    expect(sandbox.log().map(({ credential, status }) => ({ credential, status }))).toEqual(
      Array.from({ length: 2 }, () => ({ credential: "user:anna", status: 200 })),
    );
    const principal = {
      origin: new URL(sandbox.url).origin,
      credential: bearerToken(sandbox.users[0]?.token ?? ""),
    };
    expect(readWindow(account.ledgerFile, principal)).toMatchObject({ limit: 30, remaining: 29 });
    expect(existsSync(join(dataDir, "ledger.sqlite"))).toBe(false);
  });

  it("has the token in the keychain, if there is one, and nowhere else", async () => {
    await using sandbox = await startSandbox(small);
    const keychain = memoryKeychain();
    const token = sandbox.users[0]?.token ?? "";
    const { account } = await add("ada", token, { baseUrl: sandbox.url, keychain });
    expect(tokenText(await readToken(account, keychain))).toBe(token);
    const files = readdirSync(dataDir, { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    expect(files.length).toBeGreaterThan(1);
    expect(files.filter((file) => readFileSync(join(file.parentPath, file.name)).includes(token))).toEqual(
      [],
    );
  });

  it("added again gets another token of the same user's, and is else the same", async () => {
    const keychain = memoryKeychain();
    await using service = await startTwoTokenService();
    const clockAt = (time: string) => ({
      ...{ now: () => Date.parse(time), random: Math.random, sleep: () => Promise.resolve() },
    });
    const options = { baseUrl: service.origin, keychain };
    const one = await add("ada", "canary-old", { ...options, clock: clockAt("2026-01-15T12:00:00Z") });
    const two = await add("ada", "canary-new", { ...options, clock: clockAt("2026-02-15T12:00:00Z") });
    expect([one.isReplaced, two.isReplaced]).toEqual([false, true]);
    expect(two.account).toEqual({ ...one.account, tokenAt: "2026-02-15T12:00:00.000Z" });
    expect([...keychain.secrets.values()]).toEqual(["canary-new"]);
  });

  it("whose file is damaged is made anew", async () => {
    await using sandbox = await startSandbox(small);
    const { account } = await addUser("ada", sandbox);
    writeFileSync(account.accountFile, "{");
    await addUser("ada", sandbox);
    expect(readAccount(dataDir, "ada").username).toBe("anna");
  });
});

describe("what is wrong with another account", () => {
  it.each<[string, (accountFile: string) => void]>([
    ["a later version", (file) => writeFileSync(file, JSON.stringify({ version: 99 }))],
    ["a file that others may read", (file) => chmodSync(file, 0o644)],
    ["a damaged file", (file) => writeFileSync(file, "{")],
  ])("is in nobody's way: %s", async (_what, spoil) => {
    await using sandbox = await startSandbox(small);
    const { account } = await addUser("bea", sandbox, 1);
    spoil(account.accountFile);
    expect(await addUser("ada", sandbox)).toMatchObject({ account: { username: "anna" } });
    await expect(addUser("eve", sandbox)).rejects.toMatchObject({ code: "taken" });
  });
});

describe("a service that tells the user's name and no number", () => {
  const startNamingService = () => {
    const said = { username: "Zoë" };
    const server = startRawServer(({ path }, socket) => {
      const links = { bras: "/bras/", measurements: "https://elsewhere.example/measurements/" };
      const answers: Readonly<Record<string, object>> = {
        "/": { rel: "resource", links: { me: "/me/" }, meta: {} },
        "/me/": { rel: "entity", links, meta: { collection: null }, body: said },
      };
      socket.end(jsonResponse(answers[path] ?? { rel: "collection", links: {}, meta: {}, collection: [] }));
    });
    return { server, said };
  };

  it("has accounts all the same, which sync, with the scopes that a sync sees", async () => {
    const { server: starting } = startNamingService();
    await using server = await starting;
    const { account } = await add("zoe", "canary-zoe", { baseUrl: server.origin });
    expect(account).toMatchObject({ userId: null, username: "Zoë", scopes: ["profile", "bras"] });
    const credential = bearerToken("canary-zoe");
    const { mirrorFile, baseUrl } = account;
    await sync({ file: mirrorFile, baseUrl, area: "account", credential, user: userOf(account) });
    expect(readOverview(account)).toMatchObject({ scopes: ["profile", "bras"] });
  });

  it("knows her by that name: another's token is refused, and hers under another name too", async () => {
    const { server: starting, said } = startNamingService();
    await using server = await starting;
    const of = { baseUrl: server.origin };
    await add("zoe", "canary-zoe", of);
    await expect(add("eve", "canary-zoe", of)).rejects.toMatchObject({ code: "taken" });
    said.username = "Eve";
    await expect(add("zoe", "canary-eve", of)).rejects.toMatchObject({ code: "taken" });
    expect(await add("eve", "canary-eve", of)).toMatchObject({ account: { username: "Eve" } });
  });
});

describe("nothing is kept", () => {
  async function expectNothingKept(adding: Promise<unknown>, error: object): Promise<void> {
    await expect(adding).rejects.toMatchObject(error);
    expect(existsSync(dataDir)).toBe(false);
  }

  it.each([
    ["a 401", { fault: "not-authenticated" }],
    ["a 200 that says so", { fault: "not-authenticated", status: 200 }],
    ["a 403", { fault: "status", status: 403 }],
  ] as const)("of a token that the service refuses with %s", async (_how, fault) => {
    await using sandbox = await startSandbox({
      ...small,
      faults: [{ kind: "me", times: "always", ...fault }],
    });
    await expectNothingKept(addUser("ada", sandbox), { code: "refused", name: "AccountError" });
  });

  it("of a token that nobody has", async () => {
    await using sandbox = await startSandbox({ ...small, unauthorizedStatus: 403 });
    await expectNothingKept(add("ada", "canary-unknown", { baseUrl: sandbox.url }), { code: "refused" });
  });

  it("where the service cannot be reached", async () => {
    const sandbox = await startSandbox(small);
    await sandbox.close();
    await expectNothingKept(addUser("ada", sandbox), { code: "unreachable" });
  });

  it("where the allowance is spent", async () => {
    await using sandbox = await startSandbox({ ...small, allowance: 0 });
    await expectNothingKept(addUser("ada", sandbox), { name: "ServiceError", next: "stop-allowance" });
  });

  it.each([
    ["has no link me", { rel: "resource", links: { me: null } }, /has no link "me"/],
    [
      "leads elsewhere",
      { rel: "resource", links: { me: "https://evil.example/me/" } },
      /not followed: other-origin/,
    ],
    ["is none", { hello: "world" }, /not an envelope/],
  ])("where the front page %s", async (_what, body, says) => {
    await using server = await startRawServer((_request, socket) => socket.end(jsonResponse(body)));
    const refused = { code: "unidentified", message: expect.stringMatching(says) };
    await expectNothingKept(add("ada", "canary", { baseUrl: server.origin }), refused);
    expect(server.requests).toHaveLength(1);
  });

  it.each([{}, { user_id: null, username: null }, { user_id: "x" }, { user_id: 2 ** 60, username: 7 }])(
    "where the service does not say who it is: %j",
    async (body) => {
      await using server = await startRawServer(({ path }, socket) =>
        socket.end(
          jsonResponse(
            path === "/" ? { rel: "resource", links: { me: "/me/" } } : { rel: "entity", links: {}, body },
          ),
        ),
      );
      const refused = {
        code: "unidentified",
        message: expect.stringMatching(/gives neither user_id nor username/),
      };
      await expectNothingKept(add("ada", "canary", { baseUrl: server.origin }), refused);
    },
  );

  it("when it is interrupted", async () => {
    await using sandbox = await startSandbox(small);
    const adding = add("ada", sandbox.users[0]?.token ?? "", {
      baseUrl: sandbox.url,
      signal: AbortSignal.abort("stop"),
    });
    await expect(adding).rejects.toBe("stop");
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe("what is there stays as it is", () => {
  const filesOf = (name: string) => {
    const { accountFile, tokenFile } = accountPlace(dataDir, name);
    return [accountFile, tokenFile].map((file) => readFileSync(file, "utf8"));
  };

  it("where the new token is refused", async () => {
    await using sandbox = await startSandbox(small);
    await addUser("ada", sandbox);
    const before = filesOf("ada");
    await expect(add("ada", "canary-unknown", { baseUrl: sandbox.url })).rejects.toMatchObject({
      code: "refused",
    });
    expect(filesOf("ada")).toEqual(before);
  });

  it("where the new token is somebody else's", async () => {
    await using sandbox = await startSandbox(small);
    await addUser("ada", sandbox);
    const before = filesOf("ada");
    await expect(addUser("ada", sandbox, 1)).rejects.toMatchObject({
      code: "taken",
      message: expect.stringMatching(
        /ada belongs to anna \(user 1000\).*this token belongs to béatrice \(user 1001\)/,
      ),
    });
    expect(filesOf("ada")).toEqual(before);
  });

  it("where the base URL is another one, without asking anybody", async () => {
    await using sandbox = await startSandbox(small);
    await using other = await startSandbox(small);
    await addUser("ada", sandbox);
    await expect(addUser("ada", other)).rejects.toMatchObject({ code: "taken" });
    expect(other.log()).toEqual([]);
  });

  it("where the user has another name already, which is told", async () => {
    await using sandbox = await startSandbox(small);
    await addUser("ada", sandbox);
    await expect(addUser("eve", sandbox)).rejects.toMatchObject({
      code: "taken",
      message: expect.stringMatching(/anna \(user 1000\), who already has the account ada/),
    });
    expect(readdirSync(join(dataDir, "accounts")).filter((name) => !name.includes("."))).toEqual(["ada"]);
  });

  it("but users of two services may have one number", async () => {
    await using sandbox = await startSandbox(small);
    await using other = await startSandbox(small);
    const [one, two] = [await addUser("ada", sandbox), await addUser("eve", other)];
    expect(one.account.userId).toBe(two.account.userId);
  });

  it("where the mirror that a removed account left is of somebody else", async () => {
    await using sandbox = await startSandbox(small);
    const { account } = await addUser("ada", sandbox);
    const credential = bearerToken(sandbox.users[0]?.token ?? "");
    await sync({ file: account.mirrorFile, baseUrl: sandbox.url, area: "account", credential });
    const removing = { dataDir, name: "ada", purge: false, startedAt: someTime };
    await removeAccount({ ...removing, keychain: noKeychain });
    await expect(addUser("ada", sandbox, 1)).rejects.toMatchObject({
      code: "taken",
      message: expect.stringMatching(/ada belongs to anna \(user 1000\)/),
    });
    expect(readdirSync(account.folder)).not.toContain("account.json");
    await addUser("ada", sandbox);
    expect(readAccount(dataDir, "ada").username).toBe("anna");
  });
});

/** A service that has one user with two tokens, which the sandbox has not. */
function startTwoTokenService() {
  return startRawServer(({ path, headers }, socket) => {
    if (path === "/") return socket.end(jsonResponse({ rel: "resource", links: { me: "/me/" } }));
    const isKnown = ["bearer canary-old", "bearer canary-new"].includes(headers.authorization ?? "");
    const me = { rel: "entity", links: { bras: "/bras/" }, body: { user_id: 7, username: "Zoë" } };
    return socket.end(isKnown ? jsonResponse(me) : jsonResponse({ message: "Not authenticated" }, {}, 401));
  });
}
