/** The addresses that pictures are fetched from. */
import type { lookup } from "node:dns";
import { expect, it } from "vitest";
import { openPictureClient } from "../../src/service/pictures/client.ts";
import { defaultLimits, openPool } from "../../src/service/transport/pool.ts";
import { pictureResponse, startPictureServer } from "../support/picture-server.ts";

/** A resolver of names with these addresses. */
function resolver(...addresses: readonly string[]): typeof lookup {
  const resolve = (_name: string, _options: unknown, callback: (...answer: unknown[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );
  return resolve as typeof lookup;
}

it.each([
  ["the second", ["93.184.216.34", "127.0.0.1"]],
  ["the first", ["127.0.0.1", "93.184.216.34"]],
  ["an IPv6", ["93.184.216.34", "::ffff:127.0.0.1"]],
  ["the only", ["127.0.0.1"]],
])("no picture is fetched from a name of which %s address is private", async (_case, addresses) => {
  await using server = await startPictureServer();
  server.put("/a.png", pictureResponse());
  const origin = `http://pictures.example:${new URL(server.origin).port}`;
  const client = openPictureClient({
    ...{ origin, serviceOrigin: origin, serviceClass: "public", maxBytes: 1000 },
    lookup: resolver(...addresses),
  });
  const fetching = client.fetch({ url: `${origin}/a.png`, etag: null, lastModified: null });
  await expect(fetching).rejects.toMatchObject({ code: "private-address" });
  expect(server.requests).toEqual([]);
  await client.close();
});

it("a picture is fetched from a name whose addresses have the class of the service", async () => {
  await using server = await startPictureServer();
  server.put("/a.png", pictureResponse());
  const origin = `http://pictures.example:${new URL(server.origin).port}`;
  const client = openPictureClient({
    ...{ origin, serviceOrigin: origin, serviceClass: "loopback", maxBytes: 1000 },
    lookup: resolver("127.0.0.1"),
  });
  const fetched = await client.fetch({ url: `${origin}/a.png`, etag: null, lastModified: null });
  expect(fetched).toMatchObject({ outcome: "picture" });
  await client.close();
});

it("a connection is refused by its own address, without any lookup, and nothing is sent", async () => {
  await using server = await startPictureServer();
  const pool = openPool(server.origin, defaultLimits, { connections: 1, allowed: new Set(["public"]) });
  await expect(pool.request({ method: "GET", path: "/" })).rejects.toMatchObject({
    code: "ERR_PRIVATE_ADDRESS",
  });
  expect(server.requests).toEqual([]);
  await pool.close();
});
