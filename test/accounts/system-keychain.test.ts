/** The system's keychain without a session bus, and with one that never responds. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { KeychainError } from "../../src/accounts/tokens/keychain.ts";
import { systemKeychain } from "../../src/accounts/tokens/system-keychain.ts";
import { temporaryFolder } from "../support/run-armoire.ts";

describe.runIf(process.platform === "linux")("keychain process", () => {
  it("without a desktop session the keychain fails and starts no process", async () => {
    const keychain = systemKeychain({ env: { XDG_RUNTIME_DIR: "/nonexistent", HOME: "/nonexistent" } });
    for (const pending of [keychain.get("x"), keychain.set("x", "canary"), keychain.delete("x")])
      await expect(pending).rejects.toThrow(
        new KeychainError("no desktop session is running (no session bus)"),
      );
  });

  it("an unusable session bus fails the keychain with the system's message", async () => {
    const env = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus" };
    await expect(systemKeychain({ env }).set("x", "canary")).rejects.toThrow(KeychainError);
  });

  it("the keychain prints a notice, fails at its deadline and ends its process", async () => {
    await using bus = await startSilentBus();
    const remarks: string[] = [];
    // Found at systemd's standard path, since cron sets no address.
    const keychain = systemKeychain({
      env: { XDG_RUNTIME_DIR: bus.folder },
      deadlineMillis: 1000,
      onWait: () => remarks.push("waiting"),
    });
    await expect(keychain.get("x")).rejects.toThrow("no response within 1 s");
    expect(remarks).toEqual(["waiting"]);
    await bus.allGone();
  });

  it("the keychain process gets only the environment variables that it needs to find the keychain", async () => {
    await using bus = await startSilentBus();
    const keychain = systemKeychain({
      env: { XDG_RUNTIME_DIR: bus.folder, ARMOIRE_TOKEN: "canary-env", HOME: "/nonexistent" },
      deadlineMillis: 30_000,
    });
    const pending = keychain.set("x", "canary-secret").catch((error: unknown) => error);
    await bus.connected();
    const seen = childrenOf(process.pid).filter(({ args }) => args.includes("keychain-child"));
    expect(seen).toHaveLength(1);
    for (const { args, environment, pid } of seen) {
      expect(environment).toContain(`XDG_RUNTIME_DIR=${bus.folder}`);
      expect(args + environment).not.toContain("canary-");
      process.kill(pid, "SIGKILL");
    }
    expect(await pending).toBeInstanceOf(KeychainError);
  });
});

/** A session bus that accepts connections and sends nothing. */
async function startSilentBus() {
  const folder = await temporaryFolder();
  const sockets = new Set<Socket>();
  const connected = Promise.withResolvers<void>();
  let gone = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    sockets.add(socket);
    connected.resolve();
    socket.on("error", () => {});
    socket.resume();
    socket.on("close", () => {
      sockets.delete(socket);
      if (sockets.size === 0) gone.resolve();
    });
  });
  await new Promise<void>((resolve) => server.listen(join(folder.path, "bus"), resolve));
  return {
    folder: folder.path,
    connected: () => connected.promise,
    async allGone() {
      if (sockets.size > 0) await gone.promise;
      gone = Promise.withResolvers();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await folder[Symbol.asyncDispose]();
    },
  };
}

function childrenOf(parent: number) {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && existsSync(`/proc/${name}/status`))
    .flatMap((name) => {
      try {
        const read = (file: string) => readFileSync(`/proc/${name}/${file}`, "utf8");
        if (!read("status").includes(`\nPPid:\t${parent}\n`)) return [];
        return [{ pid: Number(name), args: read("cmdline"), environment: read("environ") }];
      } catch {
        // The process has already ended.
        return [];
      }
    });
}
