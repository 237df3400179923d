import { existsSync, readFileSync } from "node:fs";

/** The version in `package.json`, which is two folders up in the sources and three in `dist/`. */
export function version(): string {
  for (const path of ["../../package.json", "../../../package.json"]) {
    const file = new URL(path, import.meta.url);
    if (existsSync(file)) return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
  }
  return "unknown";
}
