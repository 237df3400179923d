/** The public library: the functions behind the commands, with their types and errors. */

export { ExportError } from "../exports/errors.ts";
export {
  type ExportDatabaseRequest,
  type ExportedDatabase,
  exportDatabase,
} from "../exports/export-database.ts";
export { type ExportMirrorRequest, exportMirror } from "../exports/export-mirror.ts";
export { type ExportedTable, type ExportTableRequest, exportTable } from "../exports/export-table.ts";
export type { Compression } from "../exports/formats/compression.ts";
export type { CsvProfile } from "../exports/formats/csv.ts";
export { type ExportFormat, exportFormats } from "../exports/formats/table.ts";
export {
  type PackageContents,
  type Publication,
  readPackageContents,
} from "../exports/package/descriptor.ts";
export { verifyDataPackage } from "../exports/package/verify/verify-package.ts";
export {
  type DataPackageRequest,
  type WrittenPackage,
  writeDataPackage,
} from "../exports/package/write-package.ts";
export type { RowCondition, RunSelect } from "../exports/row-condition.ts";
export type { DashboardOptions } from "../jobs/bullmq/dashboard/server.ts";
export { DashboardError, RedisError, TelemetryError } from "../jobs/bullmq/errors.ts";
export type { Principal } from "../jobs/bullmq/queue-names.ts";
export type { RequestCount } from "../jobs/bullmq/worker/request-counts.ts";
export { type RunWorkerOptions, runWorker, type WorkerReady } from "../jobs/bullmq/worker/run-worker.ts";
export { kinds } from "../jobs/kinds.ts";
export type { Cell } from "../schema/fields.ts";
export type { Area, Depth } from "../schema/kind.ts";
export { type Account, type AccountPlace, accountPlace } from "./accounts/account.ts";
export { listAccounts, readAccount } from "./accounts/accounts.ts";
export { AccountError } from "./accounts/errors.ts";
export { type AccountOverview, readOverview } from "./accounts/overview.ts";
export {
  type RemoveAccountOptions,
  type RemovedAccount,
  removeAccount,
} from "./accounts/remove-account.ts";
export { type Keychain, KeychainError } from "./accounts/tokens/keychain.ts";
export { type SystemKeychainOptions, systemKeychain } from "./accounts/tokens/system-keychain.ts";
export { readToken, type StoredToken } from "./accounts/tokens/tokens.ts";
export { type BackedUp, type BackUpRequest, backUp } from "./archive/back-up.ts";
export type { BackupManifest } from "./archive/contents/manifest.ts";
export { type CreateBackupRequest, type CreatedBackup, createBackup } from "./archive/create.ts";
export { BackupError, SigningKeyError } from "./archive/errors.ts";
export { type BackupOwner, type ListedBackup, type ListRequest, listBackups } from "./archive/list.ts";
export { type PruneReport, type PruneRequest, pruneBackups } from "./archive/prune.ts";
export { type PublishReport, type PublishRequest, publishSnapshot } from "./archive/published/publish.ts";
export {
  type RestoredMirror,
  type RestoreMirrorRequest,
  restoreBackup,
  type UnpackRequest,
  unpackBackup,
} from "./archive/restore.ts";
export {
  createSigningKey,
  readSigningKey,
  type SigningKey,
} from "./archive/signatures/signing-key.ts";
export {
  type CreatedSnapshot,
  type CreateSnapshotRequest,
  createSnapshot,
} from "./archive/snapshot/create.ts";
export type { SnapshotManifest } from "./archive/snapshot/manifest.ts";
export {
  type OpenSnapshot,
  openSnapshot,
  type SnapshotReport,
  type VerifySnapshotRequest,
  verifySnapshot,
} from "./archive/snapshot/open.ts";
export { type VerifyReport, type VerifyRequest, verifyBackup } from "./archive/verify.ts";
export type { Change, Reported, Row, Value } from "./change/change.ts";
export { ChangeError } from "./change/errors.ts";
export type { Keyed } from "./change/keys.ts";
export {
  type ChangeEntry,
  type ChangeLog,
  type ChangeLogRequest,
  openChangeLog,
  type RunChanges,
} from "./change/log/change-log.ts";
export { changeLogText, type LogFormat, type LogOptions } from "./change/log/log-formats.ts";
export { type PassChangesOnOptions, passChangesOn } from "./change/log/pass-changes-on.ts";
export type { ChangeCommand, ChangeCommandOutcome } from "./change/log/run-command.ts";
export { type DiffRequest, type OpenDiff, openDiff, openReported } from "./change/open-diff.ts";
export type { SourceLocation } from "./change/sources.ts";
export type { Diagnosis } from "./doctor/diagnose.ts";
export { type DiagnoseRequest, diagnose } from "./doctor/diagnose.ts";
export { diagnoseAccounts } from "./doctor/diagnose-accounts.ts";
export {
  type FindSecretsOptions,
  type FoundSecret,
  findSecrets,
  type KnownSecret,
  type SecretSearch,
} from "./doctor/find-secrets.ts";
export { McpError } from "./mcp/errors.ts";
export { type McpOptions, serveMcp } from "./mcp/serve-mcp.ts";
export { writeMetricsFile } from "./metrics/metrics-file.ts";
export type { MirrorPlace } from "./metrics/mirror-figures.ts";
export { type LinkedCataloguePlan, planLinkedCatalogue } from "./mirror/account/catalogue-links.ts";
export type { ScopeName } from "./mirror/account/token-scopes.ts";
export { type CheckProblem, type CheckReport, checkMirror } from "./mirror/check/check.ts";
export {
  type CompactOptions,
  type CompactProgress,
  type CompactReport,
  compactMirror,
  previewRetention,
  type RetentionReport,
} from "./mirror/compact.ts";
export { MirrorError } from "./mirror/file/errors.ts";
export { catalogueMirrorFile, listCatalogueMirrors } from "./mirror/file/paths.ts";
export { SnapshotError } from "./mirror/load/errors.ts";
export {
  type LoadOptions,
  type LoadProgress,
  type LoadReport,
  loadSnapshots,
} from "./mirror/load/load-snapshot.ts";
export { type Point, type PointContext, PointError, parsePoint } from "./mirror/points/point.ts";
export { type EndedRun, resolvePoint } from "./mirror/points/resolve-point.ts";
export { type PublicTable, publicTables } from "./mirror/public-tables.ts";
export { type MirrorReader, openMirrorReader } from "./mirror/reader.ts";
export type { KindCoverage } from "./mirror/runs/count-kinds.ts";
export { type Coverage, readCoverage } from "./mirror/runs/coverage.ts";
export type { KeptRun, RetentionPolicy } from "./mirror/runs/retention.ts";
export { listRuns, type RunRecord } from "./mirror/runs/run-log.ts";
export { rebuildMirror } from "./mirror/writer.ts";
export type { Clock } from "./platform/clock.ts";
export type { FieldValue } from "./query/field-history.ts";
export {
  type FieldChange,
  type Life,
  type ResourceHistory,
  type RevisionOfLife,
  type RunTime,
  readHistory,
} from "./query/history.ts";
export type { FoundResource, ShownKind } from "./query/keys/find-by-key.ts";
export { findResource, KeyError } from "./query/keys/resolve-key.ts";
export type { ModelParts } from "./query/model-parts.ts";
export { type LastChange, type Provenance, readBody } from "./query/provenance.ts";
export type { Matrix, Question, QuestionOption } from "./query/questions/question.ts";
export { listQuestions } from "./query/questions/questions.ts";
export { type QuestionRequest, type QuestionResult, runQuestion } from "./query/questions/run-question.ts";
export {
  type Found,
  type FoundKind,
  type SearchOptions,
  search,
} from "./query/search.ts";
export { type ShownResource, showResource } from "./query/show.ts";
export { QueryError } from "./query/sql/errors.ts";
export type { QueryLimits } from "./query/sql/limits.ts";
export { type QueryOptions, type QueryRequest, type QueryResult, runQuery } from "./query/sql/run-query.ts";
export { type MirrorStatus, type PastStatus, readPastStatus, readStatus } from "./query/status/status.ts";
export { type SearchSuggestion, suggestSearch } from "./query/suggest-search.ts";
export { timeAfter } from "./schedule/cron-times.ts";
export { ScheduleError } from "./schedule/errors.ts";
export { type RunSchedulesOptions, runSchedules } from "./schedule/run/run-schedules.ts";
export type { Program } from "./schedule/run/spawn-command.ts";
export { readRuns, type ScheduledRun } from "./schedule/run-history.ts";
export type { Schedule } from "./schedule/schedule.ts";
export {
  addSchedule,
  listSchedules,
  type NewSchedule,
  readSchedule,
  removeSchedule,
} from "./schedule/schedules.ts";
export type { Installation, PrintedFile } from "./schedule/system/installation.ts";
export { printSchedule, type SystemScheduler } from "./schedule/system/system-schedulers.ts";
export {
  appCredential,
  bearerToken,
  type Credential,
  hideSecret,
  type SecretText,
} from "./service/credentials/credential.ts";
export { ServiceError, ServiceSettingsError } from "./service/errors.ts";
export { type AddAccountOptions, type AddedAccount, addAccount } from "./sync/add-account.ts";
export { SyncError } from "./sync/errors.ts";
export type { MediaReport, PictureOrigin } from "./sync/media/fetch-pictures.ts";
export { type MediaOptions, syncMedia } from "./sync/media/sync-media.ts";
export type { ScopeOptions } from "./sync/options.ts";
export type { Forecast } from "./sync/plan/forecast.ts";
export {
  type ForecastSummary,
  type ForecastSummaryOptions,
  type PlanOptions,
  planSync,
  readForecastSummary,
  type SyncPlan,
} from "./sync/plan/preview.ts";
export type { Mode, Order, Reason } from "./sync/plan/request.ts";
export { LedgerError } from "./sync/rate-limit/errors.ts";
export type { SyncProgress, SyncReport } from "./sync/report.ts";
export { type SyncOptions, sync } from "./sync/sync.ts";
export {
  type AccountSyncOptions,
  type AccountSyncReport,
  type AccountSyncResult,
  type CataloguePart,
  type LinkedCatalogueOptions,
  type MediaPart,
  syncAccount,
  syncLinkedCatalogue,
} from "./sync/sync-account.ts";
export type { WorkersOptions } from "./sync/workers.ts";
export { WebError } from "./web/errors.ts";
export { createServer } from "./web/server.ts";
export type { ApiServerOptions, ServerOptions, WebServer } from "./web/start-servers.ts";

// better-sqlite3 crashes on earlier ones. `src/cli/armoire.js` has the same rule.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19))
  throw new Error(`armoire needs Node.js 22.19 or later, and this is ${process.versions.node}.`);
