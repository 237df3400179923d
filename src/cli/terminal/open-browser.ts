/** Opens an address in the user's browser. */
import { spawn } from "node:child_process";

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** @param address without a secret: other users can read the arguments of a process @returns false if there is no browser */
export async function openBrowser(address: string): Promise<boolean> {
  const [command, ...args] = openers[process.platform] ?? ["xdg-open"];
  const opener = spawn(command, [...args, address], { stdio: "ignore", detached: true });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  opener.once("error", () => resolve(false)).once("spawn", () => resolve(true));
  opener.unref();
  return await promise;
}
