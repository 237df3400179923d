/** Fault rules and presets: the requests that get a fault. */
import { describe, expect, it } from "vitest";
import type { FaultRuleInput } from "../../src/sandbox/faults/fault-rules.ts";
import { startSandbox } from "../../src/sandbox/sandbox.ts";
import { send } from "./support/client.ts";
import { correctBytes, faultRig, urlsOf, useFaultRig } from "./support/fault-rig.ts";

useFaultRig();

describe("rules", () => {
  const statusesOf = async (urls: readonly string[]): Promise<number[]> => {
    const statuses: number[] = [];
    for (const url of urls) statuses.push((await send(url)).status);
    return statuses;
  };

  it.each<[FaultRuleInput, number[]]>([
    [{ fault: "status" }, [503, 503, 503, 503, 503, 503]],
    [{ fault: "status", positions: [1, 3] }, [503, 200, 503, 200, 200, 200]],
    [{ fault: "status", every: 2 }, [200, 503, 200, 503, 200, 503]],
    [{ fault: "status", from: 5 }, [200, 200, 200, 200, 503, 503]],
    [{ fault: "status", kind: "size" }, [200, 200, 200, 200, 200, 200]],
    [{ fault: "status", every: 2, from: 4 }, [200, 200, 200, 503, 200, 503]],
  ])("%j strikes the URLs at its positions, in the order of requests", async (rule, statuses) => {
    faultRig().sandbox.setFaults([rule]);
    expect(await statusesOf(urlsOf("model").slice(0, 6))).toEqual(statuses);
  });

  it.each([
    [undefined, [503, 200, 200, 200]],
    [3, [503, 503, 503, 200]],
    ["always", [503, 503, 503, 503]],
  ] as const)("a rule with times %j strikes a URL that many times", async (times, statuses) => {
    faultRig().sandbox.setFaults([{ fault: "status", ...(times !== undefined && { times }) }]);
    const [url = ""] = urlsOf("size");
    expect(await statusesOf([url, url, url, url])).toEqual(statuses);
  });

  it("a rule waits for an earlier rule to finish", async () => {
    faultRig().sandbox.setFaults([
      { fault: "status", status: 500 },
      { fault: "status", status: 502 },
    ]);
    const [url = ""] = urlsOf("size");
    expect(await statusesOf([url, url, url])).toEqual([500, 502, 200]);
  });

  it("faults do not change error replies", async () => {
    faultRig().sandbox.setFaults([{ fault: "status", status: 500 }]);
    expect((await send(`${faultRig().sandbox.url}brands/nobody/`)).status).toBe(404);
    expect((await send(`${faultRig().sandbox.url}me/`)).status).toBe(401);
  });

  it("a changed body gets its own ETag, which is honoured", async () => {
    faultRig().sandbox.setFaults([{ fault: "unknown-fields", times: "always" }]);
    const [url = ""] = urlsOf("size");
    const struck = await send(url);
    expect((await send(url, { headers: { "If-None-Match": struck.headers.etag ?? "" } })).status).toBe(304);
    faultRig().sandbox.setFaults([]);
    const usual = await send(url, { headers: { "If-None-Match": struck.headers.etag ?? "" } });
    expect(usual).toMatchObject({ status: 200, bytes: correctBytes(url) });
  });
});

describe("presets", () => {
  it("flaky: every request succeeds within a few attempts, some not at the first", async () => {
    faultRig().sandbox.setFaults("flaky");
    faultRig().sandbox.clearLog();
    for (const { url } of faultRig().truth.values()) {
      let whole = false;
      for (let attempt = 1; attempt <= 4 && !whole; attempt++) {
        whole = await send(url).then(
          ({ bytes }) => bytes.equals(correctBytes(url)),
          () => false,
        );
      }
      expect(whole).toBe(true);
    }
    expect(
      new Set(
        faultRig()
          .sandbox.log()
          .map(({ fault }) => fault),
      ),
    ).toEqual(new Set([undefined, "status", "reset", "truncate", "hang-up"]));
  });

  it.each(["hostile", "broken"] as const)(
    "%s: some resources always fail, the others are correct",
    async (preset) => {
      faultRig().sandbox.setFaults(preset);
      faultRig().sandbox.clearLog();
      let wrong = 0;
      for (const { url } of faultRig().truth.values()) {
        for (let attempt = 1; attempt <= 2; attempt++) {
          const isRight = (await send(url)).bytes.equals(correctBytes(url));
          expect(isRight).toBe(faultRig().sandbox.log().at(-1)?.fault === undefined);
          if (attempt === 2 && !isRight) wrong++;
        }
      }
      expect(wrong).toBeGreaterThan(20);
    },
  );

  it("slow: every reply arrives, some late", async () => {
    faultRig().sandbox.setFaults("slow");
    faultRig().sandbox.clearLog();
    for (const url of urlsOf("model").slice(0, 9)) expect((await send(url)).bytes).toEqual(correctBytes(url));
    expect(
      faultRig()
        .sandbox.log()
        .flatMap(({ fault }) => fault ?? []),
    ).toEqual(["slow", "drip"]);
  });
});

it("faults apply in the opaque layout too", async () => {
  await using opaque = await startSandbox({
    layout: "opaque",
    faults: [{ kind: "brand", positions: [2], fault: "status", status: 500 }],
  });
  const urls = [...opaque.truth()].flatMap(({ kind, url }) => (kind === "brand" ? [url] : []));
  expect((await send(urls[0] ?? "")).status).toBe(200);
  expect((await send(urls[1] ?? "")).status).toBe(500);
});
