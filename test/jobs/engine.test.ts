import { createEngine } from "../../jobs/engine.ts";
import { describeEngineConformance } from "./support/engine-conformance.ts";

describeEngineConformance("the inline engine", createEngine);
