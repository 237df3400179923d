import { createEngine } from "../../jobs/engine.ts";
import { describeEngineConformance } from "./engine-conformance.ts";

describeEngineConformance("the inline engine", createEngine);
