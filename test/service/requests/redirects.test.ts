import { describe, expect, test } from "vitest";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { jsonResponse, rawResponse, startRawServer } from "../../support/raw-server.ts";
import { failureOf, startClientRig } from "../support/client.ts";

const credential = bearerToken("canary-token");
const redirect = (location: string, status = 302) => rawResponse(status, { location });

describe("same origin", () => {
  test.each([301, 302, 303, 307, 308])(
    "a %d within the origin is followed with credential and validator",
    async (status) => {
      await using rig = await startClientRig(
        ({ path }, socket) =>
          socket.write(path === "/v0/old" ? redirect("../new?x=1#y", status) : jsonResponse({ path })),
        { credential },
      );
      expect(await rig.fetch("/v0/old", { etag: '"a"' })).toMatchObject({
        outcome: "body",
        finalUrl: `${rig.server.origin}/new?x=1`,
      });
      for (const { headers } of rig.server.requests) {
        expect(headers).toMatchObject({ authorization: "bearer canary-token", "if-none-match": '"a"' });
      }
    },
  );

  test("at most five redirects are followed", async () => {
    await using rig = await startClientRig(({ path }, socket) => {
      const remaining = Number(path.slice(1));
      socket.write(remaining === 0 ? jsonResponse({}) : redirect(`/${remaining - 1}`));
    });
    expect((await rig.fetch("/5")).outcome).toBe("body");
    expect(await failureOf(rig.fetch("/6"))).toMatchObject({
      code: "too-many-redirects",
      next: "skip",
      url: `${rig.server.origin}/6`,
    });
    expect(rig.server.requests).toHaveLength(6 + 6);
  });

  test.each([
    ["to itself", "/a", 1],
    ["in a circle of two", "/b", 2],
  ])("a redirect %s fails when an address would be requested again", async (_case, next, requests) => {
    await using rig = await startClientRig(({ path }, socket) =>
      socket.write(redirect(path === "/a" ? next : "/a")),
    );
    expect(await failureOf(rig.fetch("/a"))).toMatchObject({
      code: "too-many-redirects",
      message: expect.stringContaining("redirected in a circle"),
    });
    expect(rig.server.requests).toHaveLength(requests);
  });

  test("every hop reserves a request of the allowance", async () => {
    const requested: string[] = [];
    await using rig = await startClientRig(
      ({ path }, socket) => socket.write(path === "/a" ? redirect("/b") : jsonResponse({})),
      {
        rateLimiter: async ({ url }) => {
          requested.push(new URL(url).pathname);
          return { release: () => {} };
        },
      },
    );
    await rig.fetch("/a");
    expect(requested).toEqual(["/a", "/b"]);
  });

  test("a redirect without a location is an unexpected response", async () => {
    await using rig = await startClientRig((_, socket) => socket.write(jsonResponse({}, {}, 302)));
    expect(await failureOf(rig.fetch("/"))).toMatchObject({
      code: "unexpected-status",
      next: "skip",
      status: 302,
    });
  });
});

describe("other origin", () => {
  test("a redirect off the origin is refused and nothing is sent to its target", async () => {
    await using canary = await startRawServer((_, socket) => socket.write(jsonResponse({})));
    const { port } = new URL(canary.origin);
    await using rig = await startClientRig(
      ({ path }, socket) => socket.write(redirect(decodeURIComponent(path.slice(1)))),
      { credential },
    );
    const own = new URL(rig.server.origin).host;
    const locations = [
      canary.origin,
      `//127.0.0.1:${port}/`,
      `/\\127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      `http://api.localhost:${port}/`,
      `http://2130706433:${port}/`,
      `http://0x7f.1:${port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      `http://${own}@127.0.0.1:${port}/`,
      `http://127.0.0.1.:${port}/`,
      `https://${own}/`,
      `http://user:secret@${own}/`,
      "file:///etc/passwd",
      `blob:${rig.server.origin}/x`,
      "http://169.254.169.254/latest/",
      "http://[",
    ];
    for (const location of locations) {
      const failure = await failureOf(rig.fetch(`/${encodeURIComponent(location)}`));
      expect(failure, location).toMatchObject({ code: "redirect-refused", next: "skip" });
    }
    expect(canary.connectionCount()).toBe(0);
    expect(rig.server.requests).toHaveLength(locations.length);
  });
});
