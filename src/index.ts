/** The public library: everything that the command line does, callable and typed. */

export {
  type DataPackageRequest,
  type ExportFormat,
  exportFormats,
  writeDataPackage,
} from "../exports/data-package.ts";
export { ExportError } from "../exports/export-error.ts";
export { type ExportMirrorRequest, exportMirror } from "../exports/export-mirror.ts";
export { type Manifest, readManifest } from "../exports/manifest.ts";
export { verifyDataPackage } from "../exports/verify-data-package.ts";
export type { DashboardOptions } from "../jobs/bullmq/dashboard/dashboard.ts";
export { DashboardError } from "../jobs/bullmq/dashboard/dashboard-error.ts";
export type { Principal } from "../jobs/bullmq/principal.ts";
export { RedisError } from "../jobs/bullmq/redis-error.ts";
export type { RequestCount } from "../jobs/bullmq/request-counts.ts";
export { kinds } from "../jobs/kinds.ts";
export { type RunWorkerOptions, runWorker, type WorkerReady } from "../jobs/run-worker.ts";
export type { Cell } from "../schema/fields.ts";
export type { Area, Depth } from "../schema/kind.ts";
export { type Account, type AccountPlace, accountPlace } from "./accounts/account.ts";
export { AccountError } from "./accounts/account-error.ts";
export { listAccounts, readAccount } from "./accounts/accounts.ts";
export { type Keychain, KeychainError } from "./accounts/keychain.ts";
export { type AccountOverview, readOverview } from "./accounts/read-overview.ts";
export {
  type RemoveAccountOptions,
  type RemovedAccount,
  removeAccount,
} from "./accounts/remove-account.ts";
export { type SystemKeychainOptions, systemKeychain } from "./accounts/system-keychain.ts";
export { type KeptToken, readToken } from "./accounts/tokens.ts";
export { type BackedUp, type BackUpRequest, backUp } from "./backup/back-up.ts";
export { BackupError } from "./backup/backup-error.ts";
export { type CreateBackupRequest, type CreatedBackup, createBackup } from "./backup/create-backup.ts";
export { type BackupOwner, type ListedBackup, type ListRequest, listBackups } from "./backup/list-backups.ts";
export type { BackupManifest } from "./backup/manifest.ts";
export { type PruneReport, type PruneRequest, pruneBackups } from "./backup/prune-backups.ts";
export {
  type RestoredMirror,
  type RestoreMirrorRequest,
  restoreBackup,
  type UnpackRequest,
  unpackBackup,
} from "./backup/restore-backup.ts";
export { type VerifyReport, type VerifyRequest, verifyBackup } from "./backup/verify-backup.ts";
export type { Change, Reported, Row, Value } from "./change/change.ts";
export { ChangeError } from "./change/change-error.ts";
export { type DiffRequest, type OpenDiff, openDiff, openReported } from "./change/open-diff.ts";
export type { Place } from "./change/state.ts";
export { type DiagnoseRequest, diagnose } from "./doctor/diagnose.ts";
export { diagnoseAccounts } from "./doctor/diagnose-accounts.ts";
export type { TokenOwner } from "./doctor/diagnose-token.ts";
export type { Diagnosis } from "./doctor/diagnosis.ts";
export {
  type FindSecretsOptions,
  type FoundSecret,
  findSecrets,
  type KnownSecret,
  type SecretSearch,
} from "./doctor/find-secrets.ts";
export { type CheckProblem, type CheckReport, checkMirror } from "./mirror/check/check.ts";
export {
  type CompactOptions,
  type CompactProgress,
  type CompactReport,
  compactMirror,
  previewRetention,
  type RetentionReport,
} from "./mirror/compact-mirror.ts";
export { MirrorError } from "./mirror/file/errors.ts";
export type { GrantName } from "./mirror/grants.ts";
export { catalogueMirrorFile, listCatalogueMirrors } from "./mirror/location.ts";
export { type MirrorReader, openMirrorReader } from "./mirror/mirror-reader.ts";
export { type Point, type PointContext, parsePoint } from "./mirror/points/point.ts";
export { PointError } from "./mirror/points/point-error.ts";
export { type EndedRun, resolvePoint } from "./mirror/points/resolve-point.ts";
export { rebuildMirror } from "./mirror/rebuild-mirror.ts";
export type { KeptRun, RetentionPolicy } from "./mirror/runs/retention.ts";
export { listRuns, type RunRecord } from "./mirror/runs/runs.ts";
export { type PublicTable, publicTables } from "./mirror/tables.ts";
export { adviseSearch, type SearchAdvice } from "./query/advise-search.ts";
export { askQuestion, type QuestionRequest } from "./query/ask-question.ts";
export type { FoundResource, ShownKind } from "./query/called.ts";
export type { FieldValue } from "./query/field-history.ts";
export { findResource } from "./query/find-resource.ts";
export {
  type FieldChange,
  type Life,
  type Moment,
  type ResourceHistory,
  type RevisionOfLife,
  readHistory,
} from "./query/history.ts";
export { KeyError } from "./query/key-error.ts";
export { type PastStatus, readPastStatus } from "./query/past-status.ts";
export { QueryError } from "./query/query-error.ts";
export type { Question, QuestionOption } from "./query/questions/question.ts";
export { listQuestions } from "./query/questions/questions.ts";
export { type QueryRequest, type QueryResult, type QueryTerms, runQuery } from "./query/run-query.ts";
export { type Found, type FoundKind, type SearchOptions, search } from "./query/search.ts";
export { type ShownResource, showResource } from "./query/show.ts";
export { type MirrorStatus, readStatus } from "./query/status.ts";
export { type Sandbox, startSandbox } from "./sandbox/sandbox.ts";
export type { SandboxOptions } from "./sandbox/sandbox-options.ts";
export type { Program } from "./schedule/child.ts";
export type { Installation, PrintedFile } from "./schedule/installation.ts";
export { printSchedule, type SystemScheduler } from "./schedule/print.ts";
export { readRuns, type ScheduledRun } from "./schedule/run-file.ts";
export { type RunSchedulesOptions, runSchedules } from "./schedule/run-schedules.ts";
export type { Schedule } from "./schedule/schedule.ts";
export { ScheduleError } from "./schedule/schedule-error.ts";
export {
  addSchedule,
  listSchedules,
  type NewSchedule,
  readSchedule,
  removeSchedule,
} from "./schedule/schedules.ts";
export { timeAfter } from "./schedule/times.ts";
export type { Clock } from "./service/clock.ts";
export {
  appCredential,
  bearerToken,
  type Credential,
  type Hidden,
  hidden,
} from "./service/credentials/credential.ts";
export { ServiceError } from "./service/service-error.ts";
export { ServiceSettingsError } from "./service/settings-error.ts";
export { type AddAccountOptions, type AddedAccount, addAccount } from "./sync/add-account.ts";
export { LedgerError } from "./sync/ledger/ledger-error.ts";
export type { MediaReport, PictureOrigin } from "./sync/media/media-report.ts";
export { type MediaOptions, syncMedia } from "./sync/media/sync-media.ts";
export { type Outlook, type OutlookOptions, readOutlook } from "./sync/outlook.ts";
export type { Forecast } from "./sync/plan/forecast-days.ts";
export type { Mode, Order, Reason } from "./sync/plan/plan-request.ts";
export { type LinkedCataloguePlan, planLinkedCatalogue } from "./sync/plan-linked-catalogue.ts";
export { type PlanOptions, planSync, type SyncPlan } from "./sync/plan-sync.ts";
export type { SyncProgress } from "./sync/progress.ts";
export type { SyncReport } from "./sync/report.ts";
export { type SyncOptions, sync } from "./sync/sync.ts";
export { SyncError } from "./sync/sync-error.ts";
export { type LinkedCatalogueOptions, syncLinkedCatalogue } from "./sync/sync-linked-catalogue.ts";
export {
  type CataloguePart,
  type MediaPart,
  syncWhole,
  type WholeOptions,
  type WholeReport,
  type WholeSync,
} from "./sync/sync-whole.ts";
export type { WalkOptions } from "./sync/walk-options.ts";
export type { WorkersOptions } from "./sync/workers.ts";
