import { inlineEngine } from "../../jobs/inline/inline-engine.ts";
import { describeEngineConformance } from "./engine-conformance.ts";

describeEngineConformance("the inline engine", inlineEngine);
