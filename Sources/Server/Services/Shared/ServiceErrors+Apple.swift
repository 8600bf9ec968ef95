internal import AppStore
internal import AppStoreClient
internal import AppleLookup
internal import DeviceCheck
internal import Ledger
internal import RPC
internal import SignedData
internal import Store

// The statuses of calls that Apple, or the way to it, fails. No switch has a `default`, as in ServiceErrors.swift.

extension Status {
  /// `PERMISSION_DENIED` for a revoked certificate; `UNAVAILABLE` if a required OCSP response did not arrive.
  init(_ error: OnlineCheckError) {
    switch error {
    case .revoked: self.init(.permissionDenied, reason: error.reason, error.description)
    case .unavailable(_, let wait):
      self.init(.unavailable, reason: error.reason, error.description, retryAfterMilliseconds: wait)
    }
  }

  /// The status of a lookup. `APP_STORE_RESPONSE_NOT_GENUINE` is `UNAVAILABLE`, because another response of Apple may
  /// verify.
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

  /// `DEVICE_TOKEN_REJECTED` is about the caller's token; the two about keys are for the operator.
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
