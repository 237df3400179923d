/**
 * What a page is. In: a mirror in a read transaction, and the parameters of a URL. Out: HTML, and where the page is a list
 * or an answer, the same rows as a table. A page reads and formats; it knows no HTTP.
 *
 * To add a page: a file in `pages/` that exports a `Page`, and its name in `pages/pages.ts`.
 */
import type { html } from "hono/html";
import type { ExportTable } from "../../exports/formats/table.ts";
import type { Overview } from "../../jobs/bullmq/operators/overview.ts";
import type { Area } from "../../schema/kind.ts";
import type { NewestBackup } from "../accounts/newest-backup.ts";
import type { Point } from "../mirror/points/point.ts";
import type { MirrorReader } from "../mirror/reader.ts";
import type { Step } from "../presentation/times.ts";
import type { TablesRead } from "../query/sql/run-query.ts";
import type { Answers, FirstRows, OpenAnswer } from "./queries/answers.ts";
import type { SlowArguments, SlowName, SlowValue } from "./values/slow-values.ts";

/** Escaped: what the template of `hono/html` makes. */
export type Html = ReturnType<typeof html>;

export interface Page {
  /** Such as `/brand/:brand`. */
  readonly path: string;
  /** Its name in the navigation. Default: it is not listed. */
  readonly navigation?: string;
  /** Whose mirror it shows. Default: the catalogue's. Pages of an account need the key. */
  readonly area?: "account";
  readonly render: (view: View) => PageResult;
  /**
   * The rows of the page for its `.csv`, `.ndjson` and `.json`: in the order of the page, and all of them. Default: the page
   * has no such endings.
   */
  readonly rows?: (view: View) => PageRows | null;
}

/** A page of what is shared through Redis: it is there without a mirror, too. Without a Redis, the server has no such page. */
export interface SharedPage extends Pick<Page, "path" | "navigation"> {
  readonly area?: never;
  readonly isShared: true;
  readonly render: (view: SharedView) => PageResult;
  readonly rows: (view: SharedView) => PageRows | null;
}

/** A page with the answer of a statement, which is awaited before the mirror is read. */
export interface QueryPage extends Pick<Page, "path" | "navigation" | "area"> {
  /** @returns what renders the page */
  readonly prepare: (request: QueryPageRequest) => Promise<Page["render"]>;
  /** For its `.csv`, `.ndjson` and `.json`. */
  readonly readRows: (request: QueryPageRequest) => Promise<QueryRows>;
}

export interface QueryPageRequest extends Pick<View, "parameters" | "query" | "asOf" | "now"> {
  /** Of the mirror. */
  readonly file: string;
  readonly area: Area;
  readonly answers: Answers;
  /** The answer of this key, if it was asked lately and the mirror is the same. */
  readonly keepAnswer: <Answer extends FirstRows>(key: string, ask: () => Promise<Answer>) => Promise<Answer>;
  /**
   * Whether the request comes from a page of this server, or was typed. A link of another site shows the statement, and does
   * not run it.
   */
  readonly isFromHere: boolean;
}

export interface QueryRows extends OpenAnswer {
  /** For the name of the file. */
  readonly name: string;
}

export type AnyPage = Page | SharedPage | QueryPage;

/** What a page is made from. */
export interface View {
  /** In one read transaction for the whole page. */
  readonly mirror: MirrorReader;
  /** Parts of the path, decoded. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The path of this page, without a query. */
  readonly path: string;
  readonly asOf: Point | undefined;
  /** Null if the server was not told of any. */
  readonly schedules: (() => ShownSchedules) | null;
  /** Null without a Redis. */
  readonly redis: SharedThroughRedis | null;
  /** Null on pages of the catalogue. */
  readonly account: ServedAccount | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The address of a page of this server, which keeps the point in time. Values that are null are left out. */
  link(path: string, query?: LinkQuery): string;
  /**
   * A value that several pages use. While a sync writes, it may be five seconds old.
   * @param key names it within the mirror
   */
  recent<Value>(key: string, compute: () => Value): Value;
  /**
   * A value that takes long to compute: see `values/slow-values.ts`. On a large mirror a thread computes it, and the page is
   * rendered when it is there. While a sync writes, it may be some seconds old.
   */
  slow<Name extends SlowName>(name: Name, ...args: SlowArguments<Name>): SlowValue<Name>;
}

export interface SharedView extends Omit<View, "mirror"> {
  /** Null if there is none yet. */
  readonly mirror: MirrorReader | null;
}

export interface SharedThroughRedis {
  /** Without user and password. */
  readonly address: string;
  /** Without those of accounts, unless the request has the key. Null while Redis does not respond, and on other pages. */
  readonly overview: Overview | null;
}

export interface ServedAccount {
  /** Its name on this machine. */
  readonly name: string;
  /** Null if none is known. */
  readonly newestBackup: NewestBackup | null;
}

/** Recurring runs, as the caller of the server knows them: of the catalogue, or of one account. */
export interface ShownSchedules {
  readonly schedules: readonly ShownSchedule[];
  /** Of accounts, which pages of the catalogue do not show: pages of an account need its key. */
  readonly ofAccounts: number;
}

export interface ShownSchedule {
  readonly name: string;
  readonly cron: string;
  /** The time zone of `cron`. */
  readonly tz: string;
  /** Without the program. */
  readonly command: string;
  /** ISO 8601, UTC; null if it is never due again. */
  readonly nextAt: string | null;
  /** The precision of its times. */
  readonly step: Step;
  /** When a run was due that has not begun, although there was time for it: ISO 8601, UTC. Null if there is none. */
  readonly lateSince: string | null;
  /** The newest first. */
  readonly runs: readonly {
    /** ISO 8601, UTC. */
    readonly startedAt: string;
    /** Null while it runs, or if it is lost. */
    readonly seconds: number | null;
    /** In words. */
    readonly outcome: string;
    readonly details: string;
  }[];
}

export type LinkQuery = Readonly<Record<string, string | number | null | undefined>>;

export interface PageContent {
  readonly title: string;
  readonly body: Html;
  /** Of HTTP. Default: 200. */
  readonly status?: 200 | 400 | 404 | 422 | 503;
  /** Whether the page has the endings `.csv`, `.ndjson` and `.json`. Default: as the page does. */
  readonly hasRows?: boolean;
}

/** `redirect` is a path of this server. */
export type PageResult = PageContent | { readonly redirect: string };

export interface PageRows extends ExportTable {
  /** The tables that they come from: the answer has a header if these are not complete. Default: none. */
  readonly from?: TablesRead;
  /** For `.json` instead of the rows: a document. */
  readonly document?: unknown;
  /** Called once, after the last row that is sent, or without any. */
  readonly close?: () => void;
}
