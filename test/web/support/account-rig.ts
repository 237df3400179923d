/** A catalogue and an account with pictures and one bra that is gone, synced and served as pages. */
import { dirname, join } from "node:path";
import type { NewestBackup } from "../../../src/accounts/newest-backup.ts";
import { type MirrorReader, readMirror } from "../../../src/mirror/reader.ts";
import { bearerToken } from "../../../src/service/credentials/credential.ts";
import { syncMedia } from "../../../src/sync/media/sync-media.ts";
import { createServer } from "../../../src/web/server.ts";
import type { WebServer } from "../../../src/web/start-servers.ts";
import { pictureResponse, startPictureServer } from "../../support/picture-server.ts";
import { type Rig, startRig } from "../../sync/support/rig.ts";
import { openSession, type Reply, type RequestOptions, send } from "./web-rig.ts";

export interface AccountRig extends AsyncDisposable {
  readonly rig: Rig;
  readonly server: WebServer;
  /** The account's mirror. */
  readonly file: string;
  /** What the pages take for the newest backup. */
  backup: NewestBackup | null;
  /** Sends the cookie of an open session. */
  get(path: string, options?: RequestOptions): Promise<Reply>;
  read<Result>(read: (mirror: MirrorReader) => Result): Result;
}

export async function startAccountRig(): Promise<AccountRig> {
  const rig = await startRig({ brands: 6, models: 40, sizes: 240 });
  const pictures = await startPictureServer();
  const { sandbox, clock } = rig;
  const file = join(dirname(rig.file), "account", "mirror.sqlite");
  const credential = bearerToken(sandbox.users[0]?.token ?? "");
  pictures.put("/bra.png", pictureResponse("bra"));
  pictures.put("/avatar.png", pictureResponse("avatar"));
  sandbox.setFaults([
    {
      ...{ kind: "bra", fault: "set", pointer: "/body/pictures", times: "always" },
      value: [{ url: `${pictures.origin}/bra.png` }] as never,
    },
    {
      ...{ kind: "me", fault: "set", pointer: "/body/avatar/medium", times: "always" },
      value: `${pictures.origin}/avatar.png` as never,
    },
  ]);
  const syncAccount = () => rig.sync({ file, area: "account", credential, mode: "verify", approve: true });
  await rig.sync({ depth: "brands" });
  await syncAccount();
  await syncMedia({ file, baseUrl: sandbox.url, clock, ledgerFile: join(dirname(file), "pictures.sqlite") });
  sandbox.moveClock({ advanceSeconds: 86_400 });
  sandbox.editUser(sandbox.users[0]?.username ?? "", { bras: 29 });
  await syncAccount();
  const server = await createServer({
    ...{ findCatalogue: () => rig.file, port: 0, clock },
    account: { name: "ada", findMirror: () => file, readNewestBackup: () => accountRig.backup },
  });
  const cookie = await openSession(server);
  const accountRig: AccountRig = {
    ...{ rig, server, file, backup: null },
    get: (path, options = {}) => send(server, path, { ...options, headers: { cookie, ...options.headers } }),
    read: (read) => readMirror(file, read),
    async [Symbol.asyncDispose]() {
      await server.close();
      await pictures[Symbol.asyncDispose]();
      await rig[Symbol.asyncDispose]();
    },
  };
  return accountRig;
}
