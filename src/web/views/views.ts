/** What pages are made from: the mirror that a page shows, in one read transaction, and the frame around its content. */
import type { NewestBackup } from "../../accounts/newest-backup.ts";
import { MirrorError } from "../../mirror/file/errors.ts";
import type { Point } from "../../mirror/points/point.ts";
import { countNearerPruned } from "../../mirror/points/pruned-runs.ts";
import { type EndedRun, listPoints } from "../../mirror/points/resolve-point.ts";
import type { MirrorReader } from "../../mirror/reader.ts";
import type { Clock } from "../../platform/clock.ts";
import { nothingHeld, type ServedMirror } from "../mirrors/open-mirror.ts";
import type {
  Html,
  Page,
  PageContent,
  PageResult,
  PageRows,
  SharedView,
  ShownSchedules,
  View,
} from "../page.ts";
import { layout } from "../parts/layout.ts";
import { hrefOf, linker, withoutParameters } from "../parts/links.ts";
import { ownerOfRuns } from "../parts/runs/run-link.ts";
import { type KeptValues, whenComputed } from "../values/kept-values.ts";
import type { Target, ViewTarget } from "./target.ts";

/** A mirror, and values of it that pages use again. */
export interface MirrorOfPages {
  readonly mirror: ServedMirror;
  readonly values: KeptValues;
}

export interface AccountOfPages extends MirrorOfPages {
  readonly name: string;
  readonly readNewestBackup: () => NewestBackup | null;
  readonly readSchedules: (() => ShownSchedules) | null;
}

export interface ViewOptions {
  readonly catalogue: MirrorOfPages;
  /** Null if the server has no pages of an account. */
  readonly account: AccountOfPages | null;
  readonly readSchedules: (() => ShownSchedules) | null;
  readonly clock: Clock;
  readonly asOf: Point | undefined;
}

export interface Views {
  mirrorOf(page: Pick<Page, "area">): ServedMirror;
  /** Calls `use` in a read transaction, again if a value had to be computed first. */
  read<Result>(target: ViewTarget, use: (view: SharedView) => Result): Promise<Result>;
  /** With a connection of its own. The caller closes it. */
  open(target: ViewTarget): { readonly view: SharedView; close(): void };
  frame(view: SharedView, content: PageContent): Html;
  /** Without anything that comes from a mirror. */
  bareFrame(address: URL, title: string, body: Html): Html;
}

/** In the list of runs to choose from. */
const maxPoints = 30;

export function createViews(
  options: ViewOptions,
  pages: readonly Pick<Page, "path" | "navigation">[],
): Views {
  const { account, clock } = options;
  const servedOf = ({ area }: Pick<Page, "area">): MirrorOfPages =>
    area === "account" && account !== null ? account : options.catalogue;

  const viewOf = (
    mirror: MirrorReader | null,
    { page, ...target }: ViewTarget,
    kept: Pick<SharedView, "recent" | "slow">,
  ): SharedView => ({
    ...{ ...target, ...kept, mirror, now: clock.now() },
    schedules: page.area === "account" ? (account?.readSchedules ?? null) : options.readSchedules,
    account: page.area === "account" ? describe(account) : null,
    link: linker(target.query, page),
  });

  /** What is shared through Redis is shown without a mirror, too. */
  const orWithout = <Result>(target: ViewTarget, read: () => Result, without: () => Result): Result => {
    try {
      return read();
    } catch (error) {
      if (isShared(target.page) && error instanceof MirrorError && error.code === "not-found")
        return without();
      throw error;
    }
  };

  const navigationOf = (link: View["link"]) =>
    pages.flatMap(({ path, navigation: label }) =>
      label === undefined ? [] : [{ path, label, href: link(path) }],
    );
  /** Null where the server itself shows an earlier state. */
  const presentHrefOf = (path: string, query: URLSearchParams) =>
    options.asOf === undefined ? hrefOf(path, withoutParameters(query, ["as-of", "after"])) : null;

  return {
    mirrorOf: (page) => servedOf(page).mirror,
    read: (target, use) =>
      whenComputed(() =>
        orWithout(
          target,
          () => {
            const { mirror: served, values } = servedOf(target.page);
            return served.read(target.asOf, (mirror) =>
              use(
                viewOf(mirror, target, {
                  recent: (key, compute) => values.recent(mirror, key, compute),
                  slow: (name, ...args) => values.slow(mirror, name, ...args),
                }),
              ),
            );
          },
          () => use(viewOf(null, target, withoutMirror)),
        ),
      ),
    open: (target) =>
      orWithout(
        target,
        () => {
          const { mirror: served, values } = servedOf(target.page);
          const mirror = served.open(target.asOf);
          // Versions of values are those of the connection that is kept open.
          const slow: View["slow"] = (name, ...args) =>
            served.read(target.asOf, (other) => values.slow(other, name, ...args));
          return {
            view: viewOf(mirror, target, { recent: (_key, compute) => compute(), slow }),
            close: mirror.close,
          };
        },
        () => ({ view: viewOf(null, target, withoutMirror), close: () => {} }),
      ),
    frame(view, { title, body, hasRows }) {
      const { mirror, query, path, link, recent } = view;
      const lastPoints = ({ db }: MirrorReader): EndedRun[] => listPoints(db).slice(-maxPoints).reverse();
      return layout({
        ...{ title, body, path, query, link, asOf: mirror && shownRunOf(mirror, view) },
        navigation: navigationOf(link),
        points: mirror === null ? [] : recent("points", () => lastPoints(mirror)),
        presentHref: presentHrefOf(path, query),
        service: mirror === null ? null : new URL(mirror.identity.baseUrl).host,
        downloads: hasRows
          ? (["csv", "ndjson", "json"] as const).map((format) => ({
              label: format.toUpperCase(),
              href: hrefOf(`${path}.${format}`, withoutParameters(query, ["after"])),
            }))
          : [],
      });
    },
    bareFrame({ pathname, searchParams }, title, body) {
      const link = linker(searchParams, undefined);
      return layout({
        ...{ title, body, path: pathname, query: searchParams, navigation: navigationOf(link), link },
        ...{ asOf: null, points: [], presentHref: null, service: null, downloads: [] },
      });
    },
  };
}

const describe = (account: AccountOfPages | null) =>
  account && { name: account.name, newestBackup: account.readNewestBackup() };

const withoutMirror: Pick<SharedView, "recent" | "slow"> = {
  recent: (_key, compute) => compute(),
  slow: () => {
    throw nothingHeld();
  },
};

const shownRunOf = ({ asOf, db }: MirrorReader, view: Pick<SharedView, "asOf" | "account">) =>
  asOf && {
    ...asOf,
    owner: ownerOfRuns(view),
    prunedLater: view.asOf === undefined ? 0 : countNearerPruned(db, view.asOf, asOf.run),
  };

const isShared = (page: ViewTarget["page"]): boolean => "isShared" in page;

/** @throws MirrorError if there is none */
function required(mirror: MirrorReader | null): MirrorReader {
  if (mirror === null) throw nothingHeld();
  return mirror;
}

export const renderPage = ({ page }: Target, view: SharedView): PageResult =>
  "isShared" in page ? page.render(view) : page.render({ ...view, mirror: required(view.mirror) });

export const rowsOfPage = ({ page }: Target, view: SharedView): PageRows | null =>
  "isShared" in page ? page.rows(view) : (page.rows?.({ ...view, mirror: required(view.mirror) }) ?? null);
