import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvProfiles } from "../../exports/formats/csv.ts";
import type { Row } from "../../exports/formats/table.ts";
import { exportFormats } from "../../exports/formats/table.ts";
import { readPackageContents } from "../../exports/package/descriptor.ts";
import { verifyDataPackage } from "../../exports/package/verify/verify-package.ts";
import { type DataPackageRequest, writeDataPackage } from "../../exports/package/write-package.ts";
import { withoutPrivileges } from "../support/without-privileges.ts";
import { anyTable, tableOf } from "./support/arbitrary-table.ts";
import { folderState, makeTestFolder } from "./support/folder-state.ts";

const brands = tableOf(
  "brand",
  ["href", "name"],
  [
    ["https://a.example/1/", "Anita"],
    ["https://a.example/2/", null],
  ],
);
const sizes = tableOf("size", ["href", "band"], [["https://a.example/3/", 75]]);

const state = { baseUrl: "https://a.example/", run: 7, endedAt: "2026-01-31T06:00:00.000Z" };

const request = (out: string): DataPackageRequest => ({
  out,
  formats: ["csv", "json", "ndjson"],
  tables: [brands, sizes],
  state,
  toolVersion: "0.1.0",
});

/** Fails after more rows than any buffer holds. */
const failing = {
  name: "brand",
  columns: ["n"],
  *rows(): Generator<Row> {
    for (let n = 0; n < 1000; n++) yield [n];
    throw new Error("the mirror is damaged");
  },
};

describe("written package", () => {
  it.each(exportFormats)("Ctrl-C ends an export to %s between rows and leaves nothing", async (format) => {
    const folder = await makeTestFolder();
    const interruption = new AbortController();
    const read = { rows: 0 };
    const table = {
      name: "brand",
      columns: ["n"],
      *rows(): Generator<Row> {
        setImmediate(() => interruption.abort(new Error("interrupted")));
        for (read.rows = 0; read.rows < 20_000; read.rows++) yield [read.rows];
      },
    };
    const { signal } = interruption;
    const writing = writeDataPackage({
      ...request(join(folder, "out")),
      ...{ tables: [table], formats: [format], signal },
    });
    await expect(writing).rejects.toThrow("interrupted");
    expect(read.rows).toBeLessThan(20_000);
    expect(await readdir(folder)).toEqual([]);
  });

  it("a data package has a file for each table and format, and a descriptor of them", async () => {
    const out = join(await makeTestFolder(), "catalogue");
    const contents = await writeDataPackage(request(out));
    expect(Object.keys(await folderState(out))).toEqual([
      "README.md",
      "brand.csv",
      "brand.json",
      "brand.ndjson",
      "datapackage.json",
      "load.R",
      "load.py",
      "load.sql",
      "size.csv",
      "size.json",
      "size.ndjson",
    ]);
    expect(contents).toEqual({ ...(await readPackageContents(out)), folder: out, isUnchanged: false });
    expect(contents).toMatchObject({
      state,
      toolVersion: "0.1.0",
      csv: "guarded",
    });
    expect(contents.files[0]).toEqual({
      path: "brand.csv",
      table: "brand",
      format: "csv",
      rows: 2,
      columns: ["href", "name"],
      bytes: 59,
      sha256: "1282adc69de77d8cd75d3e8034a1ac4a8692ae21ed87f114525c3e15fc1f4a93",
    });
    expect((await verifyDataPackage(out)).problems).toEqual([]);
  });

  it("a data package has the same bytes each time", async () => {
    const folder = await makeTestFolder();
    await fc.assert(
      fc.asyncProperty(anyTable, fc.constantFrom(...csvProfiles), async (table, csv) => {
        const [first, second] = [join(folder, "first"), join(folder, "second")];
        await writeDataPackage({ ...request(first), tables: [table], csv });
        await writeDataPackage({ ...request(second), tables: [table], csv });
        expect(await folderState(first)).toEqual(await folderState(second));
        expect((await verifyDataPackage(first)).problems).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it("a data package replaces an earlier one or an empty folder, and leaves nothing beside it", async () => {
    const folder = await makeTestFolder();
    const out = join(folder, "catalogue");
    await mkdir(out);
    await writeDataPackage({ ...request(out), formats: ["json"] });
    await writeDataPackage({ ...request(out), tables: [brands], formats: ["csv"] });
    expect(Object.keys(await folderState(folder))).toEqual([
      "catalogue",
      "catalogue/README.md",
      "catalogue/brand.csv",
      "catalogue/datapackage.json",
      "catalogue/load.R",
      "catalogue/load.py",
      "catalogue/load.sql",
    ]);
  });

  it.each([
    { isPrivate: true, folder: 0o700, file: 0o600 },
    { isPrivate: false, folder: 0o755, file: 0o644 },
  ])(
    "with isPrivate $isPrivate, files and folder have the modes for it",
    async ({ isPrivate, folder, file }) => {
      const out = join(await makeTestFolder(), "catalogue");
      const umask = process.umask(0o022);
      try {
        await writeDataPackage({ ...request(out), formats: ["csv", "sqlite"], isPrivate });
      } finally {
        process.umask(umask);
      }
      const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
      expect(await modeOf(out)).toBe(folder);
      for (const name of ["brand.csv", "tables.sqlite", "README.md", "datapackage.json"])
        expect(await modeOf(join(out, name))).toBe(file);
    },
  );

  it.each(["Brand", "", "../brand", "a b", "datapackage", "brand"])(
    "a data package refuses a second table named %j",
    async (name) => {
      const folder = await makeTestFolder();
      const tables = [brands, tableOf(name, ["x"], [])];
      await expect(writeDataPackage({ ...request(join(folder, "out")), tables })).rejects.toMatchObject({
        code: "bad-table-name",
      });
      expect(await folderState(folder)).toEqual({});
    },
  );
});

describe("destination", () => {
  it.each<[string, string, (out: string) => Promise<unknown>]>([
    ["a file", "not-a-package", (out) => writeFile(out, "mine")],
    ["a pipe", "not-a-package", async (out) => execFileSync("mkfifo", [out])],
    ["a folder of others", "not-a-package", (out) => mkdir(join(out, "src"), { recursive: true })],
    [
      "a folder with the data package of another program",
      "not-a-package",
      (out) => withDescriptor(out, '{"name":"app"}'),
    ],
    ["a folder with a descriptor that is not JSON", "damaged-package", (out) => withDescriptor(out, "{")],
    ["a newer package", "newer-package", (out) => withDescriptor(out, '{"armoire":{"formatVersion":2}}')],
    ["a damaged package", "damaged-package", (out) => withDescriptor(out, '{"armoire":{"formatVersion":1}}')],
    [
      "a package with another file in it",
      "not-a-package",
      async (out) => {
        await writeDataPackage(request(out));
        await writeFile(join(out, "notes.txt"), "mine");
      },
    ],
    [
      "a symbolic link to a package",
      "symbolic-link",
      async (out) => {
        await writeDataPackage(request(`${out}-real`));
        await symlink(`${out}-real`, out);
      },
    ],
  ])("a destination that cannot be replaced is refused and unchanged: %s", async (_case, code, prepare) => {
    const folder = await makeTestFolder();
    const out = join(folder, "out");
    await prepare(out);
    const before = await folderState(folder);
    const error = await writeDataPackage(request(out)).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "ExportError", code, message: expect.stringContaining(out) });
    expect(await folderState(folder)).toEqual(before);
  });

  const withDescriptor = async (out: string, text: string): Promise<void> => {
    await mkdir(out);
    await writeFile(join(out, "datapackage.json"), text);
  };
});

describe("failures", () => {
  it("an export that fails leaves only the earlier package if a table cannot be read", async () => {
    const folder = await makeTestFolder();
    const out = join(folder, "out");
    await writeDataPackage(request(out));
    const before = await folderState(folder);
    await expect(writeDataPackage({ ...request(out), tables: [sizes, failing] })).rejects.toThrow(
      "the mirror is damaged",
    );
    expect(await folderState(folder)).toEqual(before);
  });

  it("an export that fails leaves nothing if it is aborted, and closes the table", async () => {
    const folder = await makeTestFolder();
    const controller = new AbortController();
    let isClosed = false;
    const endless = {
      name: "endless",
      columns: ["n"],
      *rows(): Generator<Row> {
        try {
          for (let n = 0; ; n++) {
            if (n === 1000) controller.abort();
            yield [n];
          }
        } finally {
          isClosed = true;
        }
      },
    };
    const aborted = writeDataPackage({
      ...request(join(folder, "out")),
      tables: [endless],
      signal: controller.signal,
    });
    await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
    expect(isClosed).toBe(true);
    expect(await folderState(folder)).toEqual({});
  });

  it("an export that fails names the path and the cause if a file is in place of its folder", async () => {
    const folder = await makeTestFolder();
    await writeFile(join(folder, "file"), "");
    const out = join(folder, "file", "out");
    const message = expect.stringMatching(new RegExp(`^Cannot write ${out}: E(EXIST|NOTDIR)`));
    await expect(writeDataPackage(request(out))).rejects.toMatchObject({ code: "write-failed", message });
    expect(await folderState(folder)).toEqual({ file: "" });
  });

  it("an export that fails names the path and the cause if the folder is not writable", async () => {
    const folder = await makeTestFolder();
    await chmod(folder, 0o500);
    const writing = withoutPrivileges(() => writeDataPackage(request(join(folder, "out"))));
    await expect(writing).rejects.toMatchObject({
      code: "write-failed",
      message: expect.stringContaining("EACCES"),
    });
    await chmod(folder, 0o700);
  });
});

describe("verification", () => {
  it("verifying a data package finds every change to its files", async () => {
    const out = join(await makeTestFolder(), "out");
    await writeDataPackage(request(out));
    await writeFile(join(out, "brand.csv"), "shorter");
    await writeFile(join(out, "size.csv"), "href,band\nhttps://a.example/3/,70\n");
    await rename(join(out, "brand.json"), join(out, "other.json"));
    await rename(join(out, "size.json"), join(out, "..", "size.json"));
    await symlink("../size.json", join(out, "size.json"));
    expect((await verifyDataPackage(out)).problems).toEqual([
      { path: "brand.csv", code: "wrong-size" },
      { path: "brand.json", code: "missing" },
      { path: "size.csv", code: "wrong-hash" },
      { path: "size.json", code: "not-a-file" },
      { path: "other.json", code: "not-listed" },
    ]);
  });

  it("verifying a data package finds every changed bit of its descriptor", async () => {
    const out = join(await makeTestFolder(), "out");
    const citation = `"descriptorHash": "sha256:${"0".repeat(64)}"`;
    await writeDataPackage({ ...request(out), publication: { license: "ODbL-1.0", citation } });
    expect((await verifyDataPackage(out)).problems).toEqual([]);
    const path = join(out, "datapackage.json");
    const bytes = await readFile(path);
    for (let bit = 0; bit < 8 * bytes.length; bit += 127) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      await writeFile(path, changed);
      const problems = await verifyDataPackage(out).then(
        (report) => report.problems,
        ({ code }) => [{ path: "datapackage.json", code }],
      );
      expect(problems, `bit ${bit}`).toContainEqual(
        expect.objectContaining({
          path: "datapackage.json",
          code: expect.stringMatching(/^(wrong-hash|(damaged|newer)-package|not-a-package)$/),
        }),
      );
    }
  });

  it("a data package whose descriptor has no hash, as the first exports, is verified", async () => {
    const out = join(await makeTestFolder(), "out");
    await writeDataPackage(request(out));
    const path = join(out, "datapackage.json");
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace(/ *"descriptorHash": .*\n/, ""));
    expect(await readFile(path, "utf8")).not.toContain("descriptorHash");
    expect((await verifyDataPackage(out)).problems).toEqual([]);
    await writeFile(path, text.replace("descriptorHash", "descriptorHasi"));
    await expect(verifyDataPackage(out)).rejects.toMatchObject({ code: "damaged-package" });
  });

  it("verifying a data package never opens a path that no export writes", async () => {
    const out = join(await makeTestFolder(), "out");
    await writeDataPackage(request(out));
    const path = join(out, "datapackage.json");
    const descriptor = JSON.parse(await readFile(path, "utf8"));
    for (const resource of descriptor.resources) resource.path = "../../etc/passwd";
    await writeFile(path, JSON.stringify(descriptor));
    await expect(verifyDataPackage(out)).rejects.toMatchObject({ code: "damaged-package" });
  });

  it("verifying a data package refuses a folder without a descriptor", async () => {
    const folder = await makeTestFolder();
    await expect(verifyDataPackage(folder)).rejects.toMatchObject({ code: "not-a-package" });
    await expect(verifyDataPackage(join(folder, "absent"))).rejects.toMatchObject({ code: "no-folder" });
  });
});
