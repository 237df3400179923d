/** The rig of command-line tests: a folder, a sandbox, and a mirror that tests must not change. */
import { writeFileSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { type Sandbox, startSandbox } from "../../../src/sandbox/sandbox.ts";
import { sync } from "../../../src/sync/sync.ts";
import { temporaryFolder } from "../../support/run-armoire.ts";

export interface Fixture extends AsyncDisposable {
  readonly folder: string;
  readonly sandbox: Sandbox;
  /** A complete mirror of the sandbox. Tests must not sync it. */
  readonly mirror: string;
  /** A text file, not SQLite. */
  readonly textFile: string;
  /** Another program's SQLite file. */
  readonly otherDatabase: string;
  /** The URL of a closed port. */
  readonly closedUrl: string;
  /** A new path at each call; nothing exists there. */
  newPath(): string;
}

export async function createFixture(): Promise<Fixture> {
  const folder = await temporaryFolder();
  const at = (name: string) => join(folder.path, name);
  const sandbox = await startSandbox({ brands: 6, models: 20, sizes: 50 });
  await mkdir(at("held"));
  await sync({ file: at("held/catalogue.sqlite"), baseUrl: sandbox.url });
  writeFileSync(at("notes.txt"), "not a mirror, and long enough to have a header\n".repeat(20));
  const database = new Database(at("other.sqlite"));
  database.exec("create table t (a)");
  database.close();
  let paths = 0;
  return {
    ...{ folder: folder.path, sandbox, mirror: at("held/catalogue.sqlite") },
    ...{ textFile: at("notes.txt"), otherDatabase: at("other.sqlite"), closedUrl: await findClosedUrl() },
    newPath: () => at(`new-${++paths}`),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Every path below a folder, sorted. */
export async function listAll(folder: string): Promise<string[]> {
  return (await readdir(folder, { recursive: true })).sort();
}

async function findClosedUrl(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("the server had no port");
  return `http://127.0.0.1:${address.port}/`;
}
