/** All pages, in the order of the navigation. */
import type { Page } from "../page.ts";
import { braPage } from "./account/bra.ts";
import { compareBrasPage } from "./account/compare.ts";
import { dimensionsPage } from "./account/dimensions.ts";
import { galleryPage } from "./account/gallery.ts";
import { measurementsPage } from "./account/measurements.ts";
import { brandPage } from "./brand.ts";
import { brandsPage } from "./brands.ts";
import { changesPage } from "./changes/changes.ts";
import { comparePage } from "./changes/compare.ts";
import { runChangesPage } from "./changes/run-changes.ts";
import { homePage } from "./home.ts";
import { modelPage } from "./model.ts";
import { modelsPage } from "./models.ts";
import { runsPage } from "./runs.ts";
import { searchPage } from "./search.ts";

export const pages: readonly Page[] = [
  ...[homePage, brandsPage, modelsPage, changesPage, runsPage, galleryPage],
  ...[brandPage, modelPage, runChangesPage, comparePage, searchPage],
  ...[braPage, compareBrasPage, dimensionsPage, measurementsPage],
];
