internal import AppStoreClient
internal import Callers
internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import Reconciliation
internal import SignedData
internal import Store

// Maps all errors to gRPC statuses. No switch has a `default`, so that the compiler demands each status.

/// Runs `body`, and throws errors of the ledger as statuses.
func mapLedgerError<Value>(
  _ body: () async throws(LedgerError) -> Value
) async throws(Status) -> Value {
  do { return try await body() } catch { throw Status(error) }
}

extension Status {
  /// `UNKNOWN_APP`. The message lists the configured apps, so that a misspelling shows.
  static func unknownApp(_ id: String, known: [String]) -> Status {
    Status(
      .notFound, reason: "UNKNOWN_APP",
      "unknown app '\(id)'; configured: \(known.joined(separator: ", "))",
      metadata: [("app", id)], field: "app")
  }

  /// `UNKNOWN_REPAIR`; an empty `id` requests the latest repair, and the app has none.
  static func unknownRepair(_ id: String) -> Status {
    Status(
      .notFound, reason: "UNKNOWN_REPAIR",
      id.isEmpty ? "no repair has run for this app yet" : "the app has no repair '\(id)'", field: "repair_id")
  }

  /// The status of an error of the store. All but those of a deadline and a cancellation are temporary; only the log
  /// gets the cause. If certainly nothing was written, `isWithoutEffect` lets a replica repeat the call at another
  /// leader.
  init(_ error: StoreError) {
    switch error {
    case .overloaded:
      self.init(
        .resourceExhausted, reason: "STORE_OVERLOADED", "the store is overloaded; retry",
        retryAfterMilliseconds: 100)
    case .deadlineExceeded: self = Status(StatusCode.deadlineExceeded)
    case .cancelled: self = Status(StatusCode.cancelled)
    case .diskFull:
      self.init(
        .unavailable, reason: "DISK_FULL", "no space is left for the store; nothing was accepted",
        retryAfterMilliseconds: 10_000)
      isWithoutEffect = true
    case .conflict, .unavailable:
      self.init(
        .unavailable, reason: "STORE_UNAVAILABLE", "the database is not available; nothing was accepted",
        retryAfterMilliseconds: 1_000)
      isWithoutEffect = true
      cause = error.description
    case .outcomeUnknown:
      self.init(
        .unavailable, reason: "OUTCOME_UNKNOWN",
        "the database failed meanwhile; whether the request was executed is unknown",
        retryAfterMilliseconds: 1_000)
      // Some of gRPC's libraries obey it whatever the code, and only the caller can decide about such a call.
      pushbackMilliseconds = nil
      cause = error.description
    case .corrupt, .refused, .failed, .cannotOpen, .inUse, .newerSchema, .olderSchema, .missing, .removed:
      self.init(
        .unavailable, reason: "STORE_UNAVAILABLE", "the store cannot be used; see the server's log",
        retryAfterMilliseconds: 1_000)
      cause = error.description
    case .closed:
      self.init(
        .unavailable, reason: "SHUTTING_DOWN", "the server is shutting down", retryAfterMilliseconds: 1_000)
    }
  }

  /// Failed authentication, authorization or rate limit. The message never contains the token.
  init(_ error: CallerError) {
    switch error {
    case .noCredential: self.init(.unauthenticated, reason: "NO_CREDENTIAL", error.description)
    case .notABearer: self.init(.unauthenticated, reason: "NOT_A_BEARER_TOKEN", error.description)
    case .unknownToken, .unknownSubject:
      self.init(.unauthenticated, reason: "UNKNOWN_TOKEN", error.description)
    case .badToken: self.init(.unauthenticated, reason: "INVALID_TOKEN", error.description)
    case .tooManyBadTokens(let wait):
      self.init(
        .resourceExhausted, reason: "RATE_LIMIT", error.description, retryAfterMilliseconds: wait)
    case .unknownCertificate: self.init(.unauthenticated, reason: "UNKNOWN_CERTIFICATE", error.description)
    case .roleMissing(let caller, let needed):
      self.init(
        .permissionDenied, reason: "ROLE_MISSING", error.description,
        metadata: [("caller", caller), ("role", needed.rawValue)])
    case .appNotAllowed(let caller, let app):
      self.init(
        .permissionDenied, reason: "APP_NOT_ALLOWED", error.description,
        metadata: [("caller", caller), ("app", app)], field: "app")
    case .needsAllApps(let caller):
      self.init(
        .permissionDenied, reason: "APP_SCOPE_REQUIRED", error.description, metadata: [("caller", caller)])
    case .rateLimited(let caller, let wait):
      self.init(
        .resourceExhausted, reason: "RATE_LIMIT", error.description, metadata: [("caller", caller)],
        retryAfterMilliseconds: wait)
    }
  }

  /// The status of an interrupted repair, which keeps its progress.
  init(_ error: ReconciliationError) {
    switch error {
    case .lookup(let error): self.init(error)
    case .ledger(let error): self.init(error)
    case .store(let error): self.init(error)
    case .cancelled: self.init(.cancelled, reason: "CANCELLED", error.description)
    }
  }

  /// The status of a migration job that is not what the request needs, or of an input that cannot be read.
  init(_ error: MigrationError) {
    switch error {
    case .unknownMigration:
      self.init(.notFound, reason: "UNKNOWN_MIGRATION", error.description, field: "migration_id")
    case .migrationRunning:
      self.init(.failedPrecondition, reason: "MIGRATION_RUNNING", error.description, field: "migration_id")
    case .inputPathNotAllowed, .inputIsUpload:
      self.init(.permissionDenied, reason: "INPUT_PATH_NOT_ALLOWED", error.description, field: "input_path")
    case .inputNotFound:
      self.init(.notFound, reason: "INPUT_NOT_FOUND", error.description, field: "input_path")
    case .inputUnreadable:
      self.init(.failedPrecondition, reason: "INPUT_UNREADABLE", error.description, field: "input_path")
    case .invalidUploadID:
      self.init(.invalidArgument, reason: "INVALID_FIELD", error.description, field: "upload_id")
    case .uploadOffsetMismatch(let size):
      self.init(
        .outOfRange, reason: "UPLOAD_OFFSET_MISMATCH", error.description, metadata: [("size", String(size))],
        field: "offset")
    case .noRoomForUpload: self.init(.resourceExhausted, reason: "UPLOAD_TOO_LARGE", error.description)
    case .uploadFailed:
      self.init(
        .unavailable, reason: "UPLOAD_FAILED", error.description, retryAfterMilliseconds: 10_000)
    case .concurrencyTooHigh:
      self.init(.invalidArgument, reason: "INVALID_FIELD", error.description, field: "concurrency")
    case .ledger(let error): self.init(error)
    }
  }

  /// The status of a receipt: permanent if it was rejected, with the id of the evidence; `UNAVAILABLE` if Apple could
  /// not be called, with a delay.
  init(_ error: ReceiptError) {
    switch error {
    case .rejected(let rejection, let evidence):
      self.init(
        rejection.statusCode, reason: rejection.reason, rejection.description,
        metadata: evidence.map { [("evidenceId", String($0.rawValue))] } ?? [])
    case .lookupFailed, .verifyReceiptFailed, .onlineCheckFailed:
      self.init(
        .unavailable, reason: error.reason, error.description,
        retryAfterMilliseconds: error.retryAfter.wholeSeconds * 1_000)
    case .cancelled: self.init(.cancelled, reason: error.reason, error.description)
    case .ledger(let error): self.init(error)
    }
  }

  /// The service could not sign `document`, such as "the offer", with a key that it could load.
  init(signing document: String, failed error: CryptographyError) {
    self.init(.internalError, reason: "CRYPTOGRAPHY_FAILED", "\(document) could not be signed")
    cause = error.description
  }

  /// The same failure of a call that had an effect before, or may have had one: if the store failed, its outcome is
  /// unknown then.
  var afterPossibleEffect: Status {
    guard isTemporary, reason != "OUTCOME_UNKNOWN" else { return self }
    return Status(.outcomeUnknown(cause.isEmpty ? message : cause))
  }
}
