/** The style sheet, the script and the icon, under addresses that change with their contents. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const types = { css: "text/css", js: "text/javascript", svg: "image/svg+xml" } as const;

export interface Asset {
  /** Such as `/assets/style-3f2a9c10b5.css`. */
  readonly path: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Beside this file, or in `dist/` beside the bundle: rolldown.config.ts copies them. */
export const assets = {
  style: readAsset("style", "css"),
  script: readAsset("script", "js"),
  icon: readAsset("icon", "svg"),
} as const;

function readAsset(name: string, ending: keyof typeof types): Asset {
  const bytes = new Uint8Array(readFileSync(join(import.meta.dirname, `web-${name}.${ending}`)));
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 10);
  return { path: `/assets/${name}-${hash}.${ending}`, type: `${types[ending]}; charset=utf-8`, bytes };
}
