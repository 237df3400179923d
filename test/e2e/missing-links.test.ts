/** A service whose bodies lack the links to everything else: nothing that is made of its mirror counts as complete. */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it } from "vitest";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

/** A service with a root and an empty list of brands. */
async function startService(links: (origin: string) => Readonly<Record<string, unknown>>) {
  const server = createServer((request, response) => {
    const origin = `http://${request.headers.host}`;
    const meta = { paginated: false, next: null, collection_total: 0 };
    const bodies: Readonly<Record<string, object>> = {
      "/": { self: `${origin}/`, rel: "resource", spec: null, links: links(origin), meta: { welcome: "" } },
      "/brands/": { rel: "collection", spec: null, links: {}, meta, collection: [] },
    };
    const body = bodies[request.url ?? ""];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { message: "not found" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

it.each<[string, Readonly<Record<string, unknown>>]>([
  ["is absent", {}],
  ["is null", { brands: null }],
  ["is a number", { brands: 5 }],
  ["leads to another origin", { brands: "http://elsewhere.example/brands/" }],
])("if the root's link to the brands %s, sync, export and backup are not complete", async (_title, links) => {
  await using folder = await temporaryFolder();
  await using service = await startService(() => links);
  const mirror = ["--mirror", join(folder.path, "catalogue.sqlite")];
  const synced = await callArmoire(["sync", "--require-complete", "--base-url", service.url, ...mirror]);
  expect(synced).toMatchObject({
    exitCode: 8,
    stdout: expect.stringContaining("1 link that the service must have is missing or invalid"),
  });
  expect(synced.stdout).not.toContain("up to date");
  const out = join(folder.path, "export");
  const exported = await callArmoire(["export", "--require-complete", "--out", out, ...mirror]);
  expect(exported).toMatchObject({
    exitCode: 8,
    stderr: expect.stringContaining("Not complete: 1 link to lists of brands missing"),
  });
  expect(existsSync(out)).toBe(false);
  const to = join(folder.path, "backup.zip");
  const backup = await callArmoire(["backup", "create", "--require-complete", "--to", to, ...mirror]);
  expect(backup.exitCode).toBe(8);
  expect(backup.stdout + backup.stderr).toContain("1 link that the service must have is missing or invalid");
  const status = await callArmoire(["status", ...mirror]);
  expect(status.stdout).toContain(
    `Links that the service must have, missing or invalid:\n  ${service.url}\n    links.brands\n`,
  );
  expect(JSON.parse((await callArmoire(["status", "--json", ...mirror])).stdout)).toMatchObject({
    complete: false,
    missingLinks: [{ url: service.url, name: "brands", kind: "brands" }],
  });
});

it("an empty catalogue with all its links is complete", async () => {
  await using folder = await temporaryFolder();
  await using service = await startService((origin) => ({ brands: `${origin}/brands/` }));
  const mirror = ["--mirror", join(folder.path, "catalogue.sqlite")];
  const synced = await callArmoire(["sync", "--require-complete", "--base-url", service.url, ...mirror]);
  expect(synced.exitCode).toBe(0);
  const out = join(folder.path, "export");
  expect((await callArmoire(["export", "--require-complete", "--out", out, ...mirror])).exitCode).toBe(0);
});
