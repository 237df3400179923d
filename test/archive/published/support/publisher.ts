/** A published folder in a test, and what it says. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type PublishRequest, publishSnapshot } from "../../../../src/archive/published/publish.ts";
import { currentChain, readState } from "../../../../src/archive/published/state.ts";
import { createSnapshot } from "../../../../src/archive/snapshot/create.ts";
import { openSnapshot } from "../../../../src/archive/snapshot/open.ts";
import { startMirrorRig } from "../../../mirror/support/mirror-rig.ts";
import { urlOf } from "../../../mirror/support/world.ts";

const license = "CC0-1.0";
export const now = () => Date.parse("2026-02-01T00:00:00.000Z");

export type Publisher = Awaited<ReturnType<typeof startPublisher>>;

/** A mirror and a folder for its snapshots. */
export async function startPublisher() {
  const rig = await startMirrorRig();
  const folder = join(rig.folder, "public");
  mkdirSync(folder);
  const mirror = await rig.write();
  const publish = (more: Partial<PublishRequest> = {}) =>
    publishSnapshot({ mirror: rig.file, folder, license, now, ...more });
  /** What a load of the newest state would show: URL, body and whether it is gone. */
  const published = async () => {
    const state = readState(folder);
    const all = new Map<string, string>();
    for (const { file, sequence, rootHash, signature } of state === null ? [] : currentChain(state)) {
      const opened = await openSnapshot(join(folder, file), { rootHash, published: { sequence, signature } });
      for await (const { url, goneAt, readBody } of opened.resources())
        all.set(url, `${goneAt !== null} ${Buffer.from(await readBody())}`);
    }
    return all;
  };
  const whole = async () => {
    const { file } = await createSnapshot({
      mirror: rig.file,
      to: join(rig.folder, "whole.zip"),
      license,
      replace: true,
    });
    const all = new Map<string, string>();
    for await (const { url, goneAt, readBody } of (await openSnapshot(file)).resources())
      all.set(url, `${goneAt !== null} ${Buffer.from(await readBody())}`);
    return all;
  };
  return { ...rig, folder, above: rig.folder, mirror, publish, published, whole };
}

export const rename = (world: Map<string, string>, name: string) => {
  const url = urlOf("brands/b/");
  world.set(url, JSON.stringify({ ...JSON.parse(world.get(url) ?? ""), body: { name, slug: "b" } }));
};

export const rows = `select href, name, gone_at is null as is_there from brand
  union all select href, null, gone_at is null from size order by href`;
