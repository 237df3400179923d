/** `armoire snapshot create|verify|show|load|publish|key`: archives of a catalogue, to share. */
import type { Command } from "commander";
import { addHelp, exitCodesOfReading } from "../../terminal/help.ts";
import type { Io } from "../../terminal/io.ts";
import { configureCreate } from "./create.ts";
import { configureKey } from "./key.ts";
import { configureLoad } from "./load.ts";
import { configurePublish } from "./publish.ts";
import { configureShow, configureVerify } from "./verify.ts";

export function configure(command: Command, io: Io): void {
  addHelp(command, {
    details: [
      "A snapshot is a ZIP file with every response of a catalogue, as the service's lists lead to them. It contains nothing of " +
        "an account, no token, and no time finer than a day. The same state has the same root hash.",
    ],
    examples: [
      "armoire snapshot create --to catalogue.zip --license ODbL-1.0",
      "armoire snapshot verify catalogue.zip",
      "armoire snapshot show catalogue.zip",
      "armoire snapshot load catalogue.zip",
    ],
    exitCodes: [...exitCodesOfReading, "rejected", "locked", "interrupted", "terminated"],
  });
  configureCreate(command, io);
  configureVerify(command, io);
  configureShow(command, io);
  configureLoad(command, io);
  configurePublish(command, io);
  configureKey(command, io);
}
