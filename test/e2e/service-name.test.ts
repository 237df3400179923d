/** The prefix of the service's own fields: found in stored bodies, and changed without a request. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { readMirror } from "../../src/mirror/reader.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { callArmoire, temporaryFolder } from "../support/run-armoire.ts";

interface Rig extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly file: string;
  readonly folder: string;
}

async function startRig(serviceName: string): Promise<Rig> {
  const folder = await temporaryFolder();
  const sandbox = await startSandbox({ brands: 2, models: 4, sizes: 8, serviceName });
  return {
    sandbox,
    folder: folder.path,
    file: join(folder.path, "mirror.sqlite"),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

const syncTo = ({ sandbox, file, folder }: Rig, ...flags: string[]) =>
  callArmoire(["sync", "--base-url", sandbox.url, "--mirror", file, "--data-dir", folder, ...flags]);

const nullUrls = (file: string) =>
  readMirror(file, ({ db }) =>
    db
      .prepare<[], number>(
        `select count(*) from (select service_url from brand union all select service_url from model
         union all select service_url from size) where service_url is null`,
      )
      .pluck()
      .get(),
  );

it("a sync names the service's own prefix if the mirror has another, and the command that corrects it", async () => {
  await using rig = await startRig("acme");
  const { stdout, stderr, exitCode } = await syncTo(rig);
  expect(exitCode).toBe(0);
  expect(stderr).toContain("the service sends acme_url, not service_url");
  expect(stderr).toContain(`armoire mirror rebuild --mirror '${rig.file}' --service-name acme`);
  expect(stdout).not.toContain("mirror rebuild");
  expect(nullUrls(rig.file)).toBeGreaterThan(0);
  expect((await syncTo(rig, "--quiet")).stderr).toBe("");

  rig.sandbox.clearLog();
  const rebuilt = await callArmoire(["mirror", "rebuild", "--mirror", rig.file, "--service-name", "acme"]);
  expect(rebuilt).toMatchObject({ exitCode: 0, stderr: "" });
  expect(rig.sandbox.log()).toEqual([]);
  expect(nullUrls(rig.file)).toBe(0);
  expect((await callArmoire(["mirror", "check", "--mirror", rig.file])).exitCode).toBe(0);
});

it("a mirror keeps its prefix when a sync or a rebuild gives none", async () => {
  await using rig = await startRig("acme");
  await syncTo(rig, "--service-name", "acme");
  expect(await callArmoire(["mirror", "rebuild", "--mirror", rig.file])).toMatchObject({ exitCode: 0 });
  expect(nullUrls(rig.file)).toBe(0);
  rig.sandbox.clearLog();
  const again = await syncTo(rig);
  expect(again).toMatchObject({ exitCode: 0 });
  expect(again.stderr).not.toContain("service_url");
  expect(rig.sandbox.log().filter(({ status }) => status === 200)).toEqual([]);
  expect(nullUrls(rig.file)).toBe(0);
});

it("a sync with another prefix than the mirror's is refused with the command that changes it", async () => {
  await using rig = await startRig("acme");
  await syncTo(rig, "--service-name", "acme");
  rig.sandbox.clearLog();
  const { stderr, exitCode } = await syncTo(rig, "--service-name", "other");
  expect(exitCode).toBe(4);
  expect(stderr).toContain("service name acme, not of other");
  expect(stderr).toContain("armoire mirror rebuild --service-name other");
  expect(stderr).not.toContain("another file");
  expect(rig.sandbox.log()).toEqual([]);
});

it("no prefix is suggested where service_url is present, or where bodies share no single field", async () => {
  await using right = await startRig("service");
  right.sandbox.setFaults([
    {
      kind: "brand",
      fault: "set",
      pointer: "/body/shop_url",
      value: "https://shop.example/",
      times: "always",
    },
  ]);
  expect((await syncTo(right)).stderr).not.toContain("shop_url");
  await using two = await startRig("acme");
  two.sandbox.setFaults(
    (["brand", "model", "size"] as const).map((kind) => ({
      ...{ kind, fault: "set", pointer: "/body/shop_url", value: "https://shop.example/", times: "always" },
    })),
  );
  expect((await syncTo(two)).stderr).not.toContain("service-name");
});
