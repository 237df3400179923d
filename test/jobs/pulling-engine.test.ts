import { pullingEngine } from "../../jobs/pulling-engine.ts";
import { describeEngineConformance } from "./engine-conformance.ts";

describeEngineConformance("the inline engine", pullingEngine);
