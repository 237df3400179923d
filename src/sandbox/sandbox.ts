/**
 * The sandbox: a complete local service that implements the specification, to try everything without the real service and
 * to check mirrors independently. It shares no code with the mirror, its jobs or its client. All content follows from the
 * seed and the later edits.
 */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAllowance } from "./accounts/allowance.ts";
import { createApp, createAuthenticator, type SandboxApp } from "./accounts/credentials.ts";
import { createUserBook, createUsers, type SandboxUser, type UserEdit } from "./accounts/users.ts";
import { type AdvanceReport, type AdvanceRequest, advance } from "./advance.ts";
import { type ClockMove, createClock } from "./clock.ts";
import { createFaultPlan } from "./faults/fault-rules.ts";
import { createAdmin } from "./http/admin.ts";
import { createRequestLog, type LogEntry } from "./http/request-log.ts";
import { createHttpServer } from "./http/server.ts";
import { createService } from "./http/service.ts";
import { type FaultsOption, readFaults, resolveOptions, type SandboxOptions } from "./options.ts";
import { createAddresses } from "./resources/addresses.ts";
import { readTruth, type TruthOptions, type TruthRecord } from "./resources/catalogue.ts";
import { createPaging } from "./resources/resource.ts";
import { createWorld } from "./world/create-world.ts";
import type { WorldTotals } from "./world/world.ts";

export type { SandboxOptions } from "./options.ts";

/** A running sandbox. Its catalogue is the same for the same options. */
export interface Sandbox extends AsyncDisposable {
  /** The base URL, with a trailing slash. */
  readonly url: string;
  /** With their tokens; each has bras and measurements. */
  readonly users: readonly Pick<SandboxUser, "username" | "token" | "scopes">[];
  /** The key and secret of its one application. */
  readonly app: SandboxApp;
  /** Numbers of brands, models and sizes. A model has at most 256 sizes, so there may be fewer sizes than requested. */
  readonly totals: WorldTotals;
  /** All current resources of the catalogue down to the sizes: the content of a complete mirror. */
  readonly truth: (options?: TruthOptions) => Iterable<TruthRecord>;
  /** @param since the `n` of an entry; only later entries are returned */
  readonly log: (since?: number) => LogEntry[];
  readonly clearLog: () => void;
  /** Changes the world and reports the effect. */
  readonly advance: (request?: AdvanceRequest) => AdvanceReport;
  /** Moves the sandbox's clock, which also decides allowance windows; returns the new time. */
  readonly moveClock: (move: ClockMove) => Date;
  /** The sandbox's time. */
  readonly now: () => Date;
  /** Replaces the faults; `[]` removes all. */
  readonly setFaults: (faults: FaultsOption) => void;
  /** Changes a user's data or their token's scopes. @throws RangeError for an unknown user name */
  readonly editUser: (username: string, edit: UserEdit) => void;
  /** Ends all connections, and resolves once nothing listens any more. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a sandbox; resolves once it is listening.
 * @throws SandboxOptionError for a wrong option, or the system's error if it cannot listen
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const settings = resolveOptions(options);
  const { seed, totals, serviceName, pageSize, paginateSizes, measurements, pictures, missingScope } =
    settings;
  const clock = createClock();
  const world = createWorld(seed, totals);
  const users = createUsers(world, settings.users, settings.nullMeasurements);
  const userBook = createUserBook(users);
  const app = createApp(seed);
  const log = createRequestLog();
  let authenticate = createAuthenticator(users, app);
  let faultPlan = createFaultPlan(settings.faultRules);
  const service = createService({
    site: {
      view: { world, serviceName, pageSize, paginateSizes, measurements, pictures, missingScope },
      addresses: createAddresses(settings.layout, world),
      paging: createPaging(settings.pagination, seed),
      etagStyle: settings.etag,
      unauthorizedStatus: settings.unauthorizedStatus,
    },
    authenticate: (authorization) => authenticate(authorization),
    allowance: createAllowance(settings, clock.nowMillis),
    spentResponse: settings.spentResponse,
    countNotModified: settings.countNotModified,
    countRoot: settings.countRoot,
    emptiedLists: settings.emptiedLists,
    cors: settings.cors,
    nowMillis: clock.nowMillis,
    faultPlan: () => faultPlan,
  });
  const advanceAt = (request: AdvanceRequest, origin: string): AdvanceReport => {
    const report = advance(service.viewAt(origin), request);
    service.invalidate();
    return report;
  };
  const setFaults = (faults: FaultsOption): void => {
    faultPlan = createFaultPlan(readFaults(faults));
  };
  const editUser = (username: string, edit: UserEdit): void => {
    userBook.edit(username, edit);
    authenticate = createAuthenticator(userBook.current(), app);
  };
  const admin = createAdmin({
    advance: advanceAt,
    editUser,
    truth: (truthOptions, origin) => readTruth(service.viewAt(origin), truthOptions),
    moveClock: clock.move,
    setFaults,
    log,
  });
  const server = createHttpServer({ service, admin, log, latencyMillis: settings.latencyMillis });
  server.listen(settings.port, settings.host);
  await once(server, "listening");
  const origin = originOf(settings.host, (server.address() as AddressInfo).port);
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, "close");
  };
  return {
    url: `${origin}/`,
    users,
    app,
    totals,
    truth: (truthOptions) => readTruth(service.viewAt(origin), truthOptions),
    log: log.read,
    clearLog: log.clear,
    advance: (request = {}) => advanceAt(request, origin),
    moveClock: clock.move,
    now: () => new Date(clock.nowMillis()),
    setFaults,
    editUser,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A server that listens on all addresses is reached by the loopback address. */
function originOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
}
