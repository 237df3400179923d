/**
 * What a service may do where the specification leaves a choice: each option of the sandbox with the values to try it with.
 * Every option is independent of the others.
 */
import {
  allowanceHeaderStyles,
  limitMeanings,
  rateLimitFamilies,
  spentResponses,
} from "./accounts/allowance.ts";
import { missingScopeForms } from "./accounts/missing-scope.ts";
import { etagStyles } from "./http/content.ts";
import { layouts } from "./resources/addresses.ts";
import { paginations } from "./resources/resource.ts";
import { measurementShapes, picturePlaces } from "./resources/view.ts";

const onOff = [false, true] as const;

export const variants = {
  layout: layouts,
  pagination: paginations,
  paginateSizes: onOff,
  measurements: measurementShapes,
  nullMeasurements: onOff,
  pictures: picturePlaces,
  etag: etagStyles,
  emptiedLists: onOff,
  cors: onOff,
  unauthorizedStatus: [401, 403, 200],
  missingScope: missingScopeForms,
  countNotModified: onOff,
  countRoot: onOff,
  allowanceHeaders: allowanceHeaderStyles,
  rateLimitFields: rateLimitFamilies,
  limitMeaning: limitMeanings,
  spentResponse: spentResponses,
  allowances: [{}, { none: 30, app: 300, user: 100 }],
} as const;
