import { errorClass } from "../platform/errors.ts";

export class WebError extends errorClass("WebError", { "cannot-listen": "failed" }) {}
