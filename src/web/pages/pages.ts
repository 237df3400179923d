/** All pages, in the order of the navigation. */
import type { AnyPage } from "../page.ts";
import { braPage } from "./account/bra.ts";
import { compareBrasPage } from "./account/compare.ts";
import { dimensionsPage } from "./account/dimensions.ts";
import { galleryPage } from "./account/gallery.ts";
import { measurementsPage } from "./account/measurements.ts";
import { questionPage } from "./answers/question.ts";
import { questionsPage } from "./answers/questions.ts";
import { sqlPage } from "./answers/sql.ts";
import { brandPage } from "./brand.ts";
import { brandsPage } from "./brands.ts";
import { changesPage } from "./changes/changes.ts";
import { comparePage } from "./changes/compare.ts";
import { runChangesPage } from "./changes/run-changes.ts";
import { homePage } from "./home.ts";
import { modelPage, sizeHistoriesPage } from "./model.ts";
import { modelsPage } from "./models.ts";
import { operationsPage } from "./operations/operations.ts";
import { planPage } from "./operations/plan.ts";
import { runsPage } from "./operations/runs.ts";
import { schedulesPage } from "./operations/schedules.ts";
import { searchPage } from "./search.ts";
import { tablePage } from "./tables/table.ts";
import { tablesPage } from "./tables/tables.ts";

export const pages: readonly AnyPage[] = [
  ...[homePage, brandsPage, modelsPage, changesPage, questionsPage, runsPage, galleryPage],
  ...[brandPage, modelPage, sizeHistoriesPage, runChangesPage, comparePage, searchPage],
  ...[questionPage, sqlPage, tablesPage, tablePage, planPage, schedulesPage, operationsPage],
  ...[braPage, compareBrasPage, dimensionsPage, measurementsPage],
];
