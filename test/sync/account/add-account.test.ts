/** Adding accounts with a real service: the user, the scopes of the token, and what is stored. */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accountPlace } from "../../../src/accounts/account.ts";
import { readAccount } from "../../../src/accounts/accounts.ts";
import { readOverview } from "../../../src/accounts/overview.ts";
import { removeAccount } from "../../../src/accounts/remove-account.ts";
import { readToken } from "../../../src/accounts/tokens/tokens.ts";
import { userOf } from "../../../src/mirror/account/user.ts";
import type { SandboxOptions } from "../../../src/sandbox/options.ts";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { bearerToken, tokenText } from "../../../src/service/credentials/credential.ts";
import { type AddAccountOptions, type AddedAccount, addAccount } from "../../../src/sync/add-account.ts";
import { readWindow } from "../../../src/sync/rate-limit/store/ledger-store.ts";
import { sync } from "../../../src/sync/sync.ts";
import { noKeychain, someTime } from "../../accounts/support/facts.ts";
import { memoryKeychain } from "../../accounts/support/memory-keychain.ts";
import { jsonResponse, startRawServer } from "../../support/raw-server.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

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
    it("a new account has the user and the scopes of its token", async () => {
      await using sandbox = await startSandbox({ ...small, ...options });
      const seen: Record<string, readonly string[]> = {};
      for (const index of sandbox.users.keys()) {
        const { account, isReplaced } = await addUser(`user-${index}`, sandbox, index);
        expect(isReplaced).toBe(false);
        seen[account.username ?? ""] = [...account.scopes, ...account.unknownScopes];
        expect(account.scopes.filter((scope) => scope === "bras" || scope === "measurements")).toEqual([]);
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

describe("success", () => {
  it("adding an account takes two requests with its token, through its own ledger", async () => {
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

  it("adding an account stores the token only in the keychain, if there is one", async () => {
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

  it("adding an account again replaces only the token of the same user", async () => {
    const keychain = memoryKeychain();
    await using service = await startTwoTokenService();
    const clockAt = (time: string) => ({
      ...{ now: () => Date.parse(time), random: Math.random, sleep: () => Promise.resolve() },
    });
    const options = { baseUrl: service.origin, keychain };
    const first = await add("ada", "canary-old", { ...options, clock: clockAt("2026-01-15T12:00:00Z") });
    const second = await add("ada", "canary-new", { ...options, clock: clockAt("2026-02-15T12:00:00Z") });
    expect([first.isReplaced, second.isReplaced]).toEqual([false, true]);
    expect(second.account).toEqual({ ...first.account, tokenAt: "2026-02-15T12:00:00.000Z" });
    expect([...keychain.secrets.values()]).toEqual(["canary-new"]);
  });

  it("adding an account replaces an account with a damaged file", async () => {
    await using sandbox = await startSandbox(small);
    const { account } = await addUser("ada", sandbox);
    writeFileSync(account.accountFile, "{");
    await addUser("ada", sandbox);
    expect(readAccount(dataDir, "ada").username).toBe("anna");
  });
});

describe("other accounts", () => {
  it.each<[string, (accountFile: string) => void]>([
    ["a later version", (file) => writeFileSync(file, JSON.stringify({ version: 99 }))],
    ["a file that others may read", (file) => chmodSync(file, 0o644)],
    ["a damaged file", (file) => writeFileSync(file, "{")],
  ])("a problem of another account does not prevent adding one: %s", async (_problem, damage) => {
    await using sandbox = await startSandbox(small);
    const { account } = await addUser("bea", sandbox, 1);
    damage(account.accountFile);
    expect(await addUser("ada", sandbox)).toMatchObject({ account: { username: "anna" } });
    await expect(addUser("eve", sandbox)).rejects.toMatchObject({ code: "taken" });
  });
});

describe("a service that sends a user name of 100 KB", () => {
  const startService = (body: object) =>
    startRawServer(({ path }, socket) => {
      const bodies: Readonly<Record<string, object>> = {
        "/": { rel: "resource", links: { me: "/me/" }, meta: {} },
        "/me/": { rel: "entity", links: {}, meta: {}, body },
      };
      socket.end(jsonResponse(bodies[path] ?? { message: "gone" }));
    });
  const username = "x".repeat(100_000);

  it("an account whose user has an id is added without the name", async () => {
    await using server = await startService({ user_id: 7, username });
    const { account } = await add("ada", "canary-ada", { baseUrl: server.origin });
    expect(account).toMatchObject({ userId: 7, username: null });
    const { mirrorFile, baseUrl } = account;
    const credential = bearerToken("canary-ada");
    await sync({ file: mirrorFile, baseUrl, area: "account", credential, user: userOf(account) });
    expect(readAccount(dataDir, "ada")).toMatchObject({ userId: 7 });
  });

  it("an account whose user has no id is refused as the service's fault", async () => {
    await using server = await startService({ username });
    const refused = { code: "unidentified", message: expect.stringContaining("too long") };
    await expect(add("ada", "canary-ada", { baseUrl: server.origin })).rejects.toMatchObject(refused);
  });
});

describe("a service that sends a user name without an id", () => {
  const startNamingService = () => {
    const user: { username: string; user_id?: number | null } = { username: "Zoë" };
    const server = startRawServer(({ path }, socket) => {
      const links = { bras: "/bras/", measurements: "https://elsewhere.example/measurements/" };
      const bodies: Readonly<Record<string, object>> = {
        "/": { rel: "resource", links: { me: "/me/" }, meta: {} },
        "/me/": { rel: "entity", links, meta: { collection: null }, body: user },
      };
      socket.end(jsonResponse(bodies[path] ?? { rel: "collection", links: {}, meta: {}, collection: [] }));
    });
    return { server, user };
  };

  it("a response without the id does not open an account to another user of the same name", async () => {
    const { server: starting, user } = startNamingService();
    await using server = await starting;
    const addAs = async (id: number | null) => {
      user.user_id = id;
      return await add("zoe", "canary-zoe", { baseUrl: server.origin });
    };
    await addAs(7);
    expect((await addAs(null)).account.userId).toBe(7);
    await expect(addAs(8)).rejects.toMatchObject({ code: "taken" });
  });

  it("a service that sends a user name without an id can have accounts, with the same scopes as a sync reports", async () => {
    const { server: starting } = startNamingService();
    await using server = await starting;
    const { account } = await add("zoe", "canary-zoe", { baseUrl: server.origin });
    expect(account).toMatchObject({ userId: null, username: "Zoë" });
    expect(account).toMatchObject({ scopes: ["profile"], unknownScopes: ["bras"] });
    const credential = bearerToken("canary-zoe");
    const { mirrorFile, baseUrl } = account;
    await sync({ file: mirrorFile, baseUrl, area: "account", credential, user: userOf(account) });
    expect(readOverview(account)).toMatchObject({ scopes: ["profile", "bras"] });
  });

  it("a service that sends a user name without an id identifies users by that name: neither another user nor a second account is accepted", async () => {
    const { server: starting, user } = startNamingService();
    await using server = await starting;
    const of = { baseUrl: server.origin };
    await add("zoe", "canary-zoe", of);
    await expect(add("eve", "canary-zoe", of)).rejects.toMatchObject({ code: "taken" });
    user.username = "Eve";
    await expect(add("zoe", "canary-eve", of)).rejects.toMatchObject({ code: "taken" });
    expect(await add("eve", "canary-eve", of)).toMatchObject({ account: { username: "Eve" } });
  });
});

describe("failures", () => {
  async function expectNothingStored(adding: Promise<unknown>, error: object): Promise<void> {
    await expect(adding).rejects.toMatchObject(error);
    expect(existsSync(dataDir)).toBe(false);
  }

  it.each([
    ["a 401", { fault: "not-authenticated" }],
    ["a 200 that says so", { fault: "not-authenticated", status: 200 }],
    ["a 403", { fault: "status", status: 403 }],
  ] as const)("nothing is stored if the service rejects the token with %s", async (_response, fault) => {
    await using sandbox = await startSandbox({
      ...small,
      faults: [{ kind: "me", times: "always", ...fault }],
    });
    await expectNothingStored(addUser("ada", sandbox), { code: "refused", name: "AccountError" });
  });

  it("nothing is stored if the token is unknown", async () => {
    await using sandbox = await startSandbox({ ...small, unauthorizedStatus: 403 });
    await expectNothingStored(add("ada", "canary-unknown", { baseUrl: sandbox.url }), { code: "refused" });
  });

  it("nothing is stored if the service is unreachable", async () => {
    const sandbox = await startSandbox(small);
    await sandbox.close();
    await expectNothingStored(addUser("ada", sandbox), { code: "unreachable" });
  });

  it("nothing is stored if the allowance is spent", async () => {
    await using sandbox = await startSandbox({ ...small, allowance: 0 });
    await expectNothingStored(addUser("ada", sandbox), { name: "ServiceError", next: "stop-allowance" });
  });

  it.each([
    ["has no link me", { rel: "resource", links: { me: null } }, /has no link "me"/],
    [
      "links to another origin",
      { rel: "resource", links: { me: "https://evil.example/me/" } },
      /cannot be followed: other-origin/,
    ],
    ["is no envelope", { hello: "world" }, /not an envelope/],
  ])("nothing is stored if the root %s", async (_problem, body, message) => {
    await using server = await startRawServer((_request, socket) => socket.end(jsonResponse(body)));
    const refused = { code: "unidentified", message: expect.stringMatching(message) };
    await expectNothingStored(add("ada", "canary", { baseUrl: server.origin }), refused);
    expect(server.requests).toHaveLength(1);
  });

  it.each([{}, { user_id: null, username: null }, { user_id: "x" }, { user_id: 2 ** 60, username: 7 }])(
    "nothing is stored if the service does not identify the user: %j",
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
        message: expect.stringMatching(/has neither user_id nor username/),
      };
      await expectNothingStored(add("ada", "canary", { baseUrl: server.origin }), refused);
    },
  );

  it("nothing is stored after an interruption", async () => {
    await using sandbox = await startSandbox(small);
    const adding = add("ada", sandbox.users[0]?.token ?? "", {
      baseUrl: sandbox.url,
      signal: AbortSignal.abort("stop"),
    });
    await expect(adding).rejects.toBe("stop");
    expect(existsSync(dataDir)).toBe(false);
  });
});

describe("existing account", () => {
  const filesOf = (name: string) => {
    const { accountFile, tokenFile } = accountPlace(dataDir, name);
    return [accountFile, tokenFile].map((file) => readFileSync(file, "utf8"));
  };

  it("an existing account stays unchanged if the new token is rejected", async () => {
    await using sandbox = await startSandbox(small);
    await addUser("ada", sandbox);
    const before = filesOf("ada");
    await expect(add("ada", "canary-unknown", { baseUrl: sandbox.url })).rejects.toMatchObject({
      code: "refused",
    });
    expect(filesOf("ada")).toEqual(before);
  });

  it("an existing account stays unchanged if the new token belongs to another user", async () => {
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

  it("an existing account stays unchanged if the base URL differs, without a request", async () => {
    await using sandbox = await startSandbox(small);
    await using otherSandbox = await startSandbox(small);
    await addUser("ada", sandbox);
    await expect(addUser("ada", otherSandbox)).rejects.toMatchObject({ code: "taken" });
    expect(otherSandbox.log()).toEqual([]);
  });

  it("an existing account stays unchanged if its user is added under another name", async () => {
    await using sandbox = await startSandbox(small);
    await addUser("ada", sandbox);
    await expect(addUser("eve", sandbox)).rejects.toMatchObject({
      code: "taken",
      message: expect.stringMatching(/anna \(user 1000\), who already has the account ada/),
    });
    expect(readdirSync(join(dataDir, "accounts")).filter((name) => !name.includes("."))).toEqual(["ada"]);
  });

  it("an existing account does not prevent an account of another service with the same user id", async () => {
    await using sandbox = await startSandbox(small);
    await using otherSandbox = await startSandbox(small);
    const [first, second] = [await addUser("ada", sandbox), await addUser("eve", otherSandbox)];
    expect(first.account.userId).toBe(second.account.userId);
  });

  it("a mirror that is left of a removed account stays unchanged if it belongs to another user", async () => {
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

/** A service with two tokens of one user, which the sandbox does not offer. */
function startTwoTokenService() {
  return startRawServer(({ path, headers }, socket) => {
    if (path === "/") return socket.end(jsonResponse({ rel: "resource", links: { me: "/me/" } }));
    const isKnown = ["bearer canary-old", "bearer canary-new"].includes(headers.authorization ?? "");
    const me = { rel: "entity", links: { bras: "/bras/" }, body: { user_id: 7, username: "Zoë" } };
    return socket.end(isKnown ? jsonResponse(me) : jsonResponse({ message: "Not authenticated" }, {}, 401));
  });
}
