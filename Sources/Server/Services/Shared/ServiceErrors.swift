internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import Callers
internal import DeviceCheck
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
  static func unknownApp(_ id: String, known: [String]) -> Status {
    Status(
      .notFound, reason: "UNKNOWN_APP",
      "unknown app '\(id)'; configured: \(known.joined(separator: ", "))",
      metadata: [("app", id)], field: "app")
  }

  static func unknownRepair(_ id: String) -> Status {
    Status(
      .notFound, reason: "UNKNOWN_REPAIR",
      id.isEmpty ? "no repair has run for this app yet" : "the app has no repair '\(id)'", field: "repair_id")
  }

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
        .unavailable, reason: "DISK_FULL", "no space is left for the store; \(Self.noEffect)",
        retryAfterMilliseconds: 10_000)
    case .conflict, .unavailable:
      self.init(
        .unavailable, reason: "STORE_UNAVAILABLE", "the database is not available; \(Self.noEffect)",
        retryAfterMilliseconds: 1_000)
      cause = error.description
    case .outcomeUnknown:
      self.init(
        .unavailable, reason: "OUTCOME_UNKNOWN",
        "the database failed meanwhile; whether the request was executed is unknown",
        retryAfterMilliseconds: 1_000)
      cause = error.description
    case .corrupt, .failed, .cannotOpen, .inUse, .newerSchema, .olderSchema, .missing, .removed:
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
    case .unknownToken: self.init(.unauthenticated, reason: "UNKNOWN_TOKEN", error.description)
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

  init(_ error: OnlineCheckError) {
    switch error {
    case .revoked: self.init(.permissionDenied, reason: error.reason, error.description)
    case .unavailable(_, let wait):
      self.init(.unavailable, reason: error.reason, error.description, retryAfterMilliseconds: wait)
    }
  }

  init(_ error: LookupError) {
    switch error {
    case .noKey:
      self.init(.failedPrecondition, reason: "NO_IN_APP_PURCHASE_KEY", error.description)
    case .appStore(let error): self.init(error)
    case .cancelled: self.init(.cancelled, reason: "CANCELLED", error.description)
    case .ledger(let error): self.init(error)
    case .rejectedDocument(let rejection, let evidence):
      self.init(
        .unavailable, reason: "APP_STORE_RESPONSE_NOT_GENUINE", error.description,
        metadata: [("rejection", rejection.reason), ("evidenceId", String(evidence.rawValue))])
    }
  }

  init(_ error: ReconciliationError) {
    switch error {
    case .lookup(let error): self.init(error)
    case .ledger(let error): self.init(error)
    case .store(let error): self.init(error)
    case .cancelled: self.init(.cancelled, reason: "CANCELLED", error.description)
    }
  }

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

  /// Apple's permanent errors are errors of the caller; temporary ones carry a retry delay.
  init(_ error: AppStoreClientError) {
    let code: StatusCode
    let reason: String
    switch error {
    case .refused(let apple, _):
      (code, reason) = (apple.statusCode, "APP_STORE_\(apple.rawValue)")
    case .unauthorized: (code, reason) = (.failedPrecondition, "APP_STORE_KEY_REJECTED")
    case .clockSkew: (code, reason) = (.failedPrecondition, "CLOCK_SKEW")
    case .rateLimited: (code, reason) = (.resourceExhausted, "APP_STORE_RATE_LIMIT")
    case .localRateLimit: (code, reason) = (.resourceExhausted, "APP_STORE_RATE_LIMIT_LOCAL")
    case .circuitOpen, .unreachable, .serverFailed: (code, reason) = (.unavailable, "APP_STORE_UNAVAILABLE")
    case .timedOut: (code, reason) = (.deadlineExceeded, "APP_STORE_TIMED_OUT")
    case .cancelled: (code, reason) = (.cancelled, "CANCELLED")
    case .notJSON: (code, reason) = (.unavailable, "APP_STORE_RESPONSE_NOT_JSON")
    case .malformed, .missing: (code, reason) = (.unavailable, "APP_STORE_RESPONSE_MALFORMED")
    case .tooLarge: (code, reason) = (.unavailable, "APP_STORE_RESPONSE_TOO_LARGE")
    case .pageLoop: (code, reason) = (.unavailable, "APP_STORE_PAGE_LOOP")
    case .unexpectedStatus: (code, reason) = (.unavailable, "APP_STORE_UNEXPECTED_STATUS")
    case .signingFailed: (code, reason) = (.internalError, "REQUEST_SIGNING_FAILED")
    }
    self.init(
      code, reason: reason, error.description,
      retryAfterMilliseconds: error.retryAfter.map { $0.wholeSeconds * 1_000 })
  }

  init(_ error: DeviceCheckError) {
    switch error {
    case .noKey: self.init(.failedPrecondition, reason: "NO_DEVICE_CHECK_KEY", error.description)
    case .refused:
      self.init(
        .invalidArgument, reason: "DEVICE_TOKEN_REJECTED", error.description, field: "device_token")
    case .keyRejected:
      self.init(.failedPrecondition, reason: "DEVICE_CHECK_KEY_REJECTED", error.description)
    case .call(let error): self.init(error)
    }
  }

  /// The service could not sign `document`, such as "the offer", with a key that it could load.
  init(signing document: String, failed error: CryptographyError) {
    self.init(.internalError, reason: "CRYPTOGRAPHY_FAILED", "\(document) could not be signed")
    cause = error.description
  }
}

extension APIErrorCode {
  /// The first three digits of the code are the HTTP status.
  fileprivate var statusCode: StatusCode {
    if isRetryable { return .unavailable }
    switch rawValue / 10_000 {
    case 400: return .invalidArgument
    case 401: return .failedPrecondition
    case 403: return .failedPrecondition
    case 404: return .notFound
    case 409: return .alreadyExists
    case 429: return .resourceExhausted
    default: return .unavailable
    }
  }
}
