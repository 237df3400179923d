/** The independent service, a mirror in a folder of its own, and syncs between them in this process. */
import { join } from "node:path";
import { type MirrorReader, openMirrorReader } from "../../../../src/mirror/reader.ts";
import type { Clock } from "../../../../src/platform/clock.ts";
import { bearerToken } from "../../../../src/service/credentials/credential.ts";
import type { SyncReport } from "../../../../src/sync/report.ts";
import { type SyncOptions, sync } from "../../../../src/sync/sync.ts";
import { dayMs, type Options } from "../../../support/independent-service/options.ts";
import {
  type IndependentService,
  startIndependentService,
} from "../../../support/independent-service/service.ts";
import { temporaryFolder } from "../../../support/run-armoire.ts";

export interface IndependentRig extends AsyncDisposable {
  readonly service: IndependentService;
  readonly folder: string;
  readonly file: string;
  /** The service's time, which moves only by `advance`. */
  readonly clock: Clock;
  advance(millis: number): void;
  sync(options?: Partial<SyncOptions>): Promise<SyncReport>;
  /** Syncs once a day until the mirror is complete. */
  syncDaily(options?: Partial<SyncOptions>): Promise<SyncReport[]>;
  /** Opens the mirror, reads from it, and closes it. @param from another mirror */
  read<Result>(read: (mirror: MirrorReader) => Result, from?: string): Result;
}

export async function startIndependentRig(options: Partial<Options> = {}): Promise<IndependentRig> {
  const folder = await temporaryFolder();
  let now = Date.parse("2026-02-03T10:20:30.400Z");
  const service = await startIndependentService({ now: () => now, ...options });
  const file = join(folder.path, "mirror.sqlite");
  const clock: Clock = {
    now: () => now,
    random: Math.random,
    sleep: async (_millis, signal) => signal?.throwIfAborted(),
  };
  const syncOnce = (options: Partial<SyncOptions> = {}) =>
    sync({
      ...{ file, clock, baseUrl: service.baseUrl, serviceName: service.options.serviceName },
      ...options,
    });
  return {
    ...{ service, folder: folder.path, file, clock, sync: syncOnce },
    advance(millis) {
      now += millis;
    },
    async syncDaily(options = {}) {
      const reports: SyncReport[] = [];
      while (reports.at(-1)?.complete !== true) {
        if (reports.length === 100) throw new Error(`no run is complete: ${JSON.stringify(reports.at(-1))}`);
        reports.push(await syncOnce(options));
        now += dayMs;
      }
      return reports;
    },
    read(read, from = file) {
      const mirror = openMirrorReader(from);
      try {
        return read(mirror);
      } finally {
        mirror.close();
      }
    },
    async [Symbol.asyncDispose]() {
      await service.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export const allScopes = ["email", "wardrobe", "tape"];

/** The value of `Authorization` for a token that is issued here. @param user the index of the user */
export function authorize({ service }: IndependentRig, scopes = allScopes, user = 0): string {
  const token = `canary-${user}-${scopes.join("-")}`;
  service.tokens.set(token, { userId: service.data.users[user]?.id ?? 0, scopes });
  return `bearer ${token}`;
}

/** The options of an account's sync. */
export function accountOf(authorization: string): Partial<SyncOptions> {
  return { area: "account", credential: bearerToken(authorization.slice("bearer ".length)) };
}
