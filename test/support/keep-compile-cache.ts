/** For `node --import`: a process that will be killed keeps what it has compiled for the next one. */
import { flushCompileCache } from "node:module";

setImmediate(flushCompileCache);
