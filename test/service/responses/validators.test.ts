import { describe, expect, test } from "vitest";
import { readEntityTag, readValidator } from "../../../src/service/requests/headers.ts";
import { jsonResponse, rawResponse } from "../../support/raw-server.ts";
import { startClientRig } from "../support/client.ts";

const date = "Sun, 06 Nov 1994 08:50:37 GMT";
const modified = "Sun, 06 Nov 1994 08:49:37 GMT";
const envelope = { rel: "entity", body: {} };

describe("the validator of a response", () => {
  test.each([
    [{ etag: '"a"', date, "last-modified": modified }, '"a"'],
    [{ date, "last-modified": modified }, modified],
    [{ date, "last-modified": "Sunday, 06-Nov-94 08:49:37 GMT" }, modified],
    [{ date, "last-modified": "Sun, 06 Nov 1994 08:49:38 GMT" }, null],
    [{ date, "last-modified": "Sun, 06 Nov 1995 08:49:37 GMT" }, null],
    [{ date, "last-modified": "yesterday" }, null],
    [{ date }, null],
    [{ "last-modified": modified }, null],
    // A tag that cannot be sent back says that there are tags.
    [{ etag: "\u00ff", date, "last-modified": modified }, null],
    [{ etag: modified, date, "last-modified": modified }, null],
  ])("of %o is %j", (headers, expected) => {
    expect(readValidator(headers)).toBe(expected);
  });

  test.each(["*", '"a", "b"', '"a"b"', "a,b", 'W/*"', ""])("%j is no tag", (text) => {
    expect(readEntityTag(text)).toBeNull();
  });

  test.each(['""', "*a", 'W/"a b"', "abc=", '"*"', "W/a"])("%j is a tag", (text) => {
    expect(readEntityTag(text)).toBe(text);
  });

  test("a time without quotes is no tag", () => {
    expect([readEntityTag(modified), readEntityTag(`"${modified}"`)]).toEqual([null, `"${modified}"`]);
  });
});

describe("a request with a time as its validator", () => {
  test("sends it in If-Modified-Since, and takes a 304 for unchanged", async () => {
    await using rig = await startClientRig((_, socket) => socket.write(rawResponse(304, { date }, "")));
    expect(await rig.fetch("/", { etag: modified })).toMatchObject({ outcome: "not-modified" });
    const [request] = rig.server.requests;
    expect(request?.headers).toMatchObject({ "if-modified-since": modified });
    expect(request?.headers).not.toHaveProperty("if-none-match");
  });

  test.each([{ etag: '"new"' }, { "last-modified": date }])(
    "is repeated without it after a 304 with %o",
    async (validator) => {
      await using rig = await startClientRig((request, socket) =>
        socket.write(
          request.headers["if-modified-since"] === undefined
            ? jsonResponse(envelope, validator)
            : rawResponse(304, validator, ""),
        ),
      );
      expect(await rig.fetch("/", { etag: modified })).toMatchObject({ outcome: "body" });
      expect(rig.server.requests).toHaveLength(2);
    },
  );
});
