import type { KeptHeaders } from "../../src/service/fetch-result.ts";

export const noHeaders: KeptHeaders = { sentAt: null, modifiedAt: null, contentType: null, link: null };
