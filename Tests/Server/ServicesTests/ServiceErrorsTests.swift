import AppStore
import AppStoreClient
import AppleLookup
import Callers
import DeviceCheck
import Ledger
import RPC
import ReceiptMigration
import SignedData
import Store
import Testing

@testable import Services

/// The statuses of errors: code and reason are part of the API.
@Suite struct ServiceErrorsTests {
  private func codes(_ statuses: [Status]) -> [String] {
    statuses.map { "\($0.code.name) \($0.reason ?? "-")" }
  }

  @Test("Apple's errors are those of the caller if a repetition cannot succeed, with Apple's number")
  func refusals() {
    let refused: [AppStoreClientError] = [
      .refused(.invalidAppIdentifier, message: "m"), .refused(.transactionIdNotFound, message: "m"),
      .refused(.unrecognized(4_030_007), message: "m"), .refused(.unrecognized(4_090_001), message: "m"),
      .refused(.originalTransactionIdNotFoundRetryable, message: "m"),
      .refused(.rateLimitExceeded, message: "m"),
      .refused(.generalInternal, message: "m"),
    ]
    #expect(
      codes(refused.map { Status($0) }) == [
        "INVALID_ARGUMENT APP_STORE_4000002", "NOT_FOUND APP_STORE_4040010",
        "FAILED_PRECONDITION APP_STORE_4030007", "ALREADY_EXISTS APP_STORE_4090001",
        "UNAVAILABLE APP_STORE_4040006", "UNAVAILABLE APP_STORE_4290000", "UNAVAILABLE APP_STORE_5000000",
      ])
    #expect(refused.map { Status($0).retrySeconds } == [nil, nil, nil, nil, 5, 5, 5])
  }

  @Test("Failures of a call to Apple differ by what the caller can do")
  func calls() {
    let failed: [AppStoreClientError] = [
      .unauthorized, .clockSkew(seconds: 90), .rateLimited(retryAfter: .seconds(3)),
      .localRateLimit(endpoint: .transactionInfo, retryAfter: .seconds(3)),
      .circuitOpen(host: "h", retryAfter: .seconds(3)), .unreachable(host: "h", problem: "p"),
      .serverFailed(status: 502), .timedOut, .cancelled, .unexpectedStatus(302),
    ]
    #expect(
      codes(failed.map { Status($0) }) == [
        "FAILED_PRECONDITION APP_STORE_KEY_REJECTED", "FAILED_PRECONDITION CLOCK_SKEW",
        "RESOURCE_EXHAUSTED APP_STORE_RATE_LIMIT", "RESOURCE_EXHAUSTED APP_STORE_RATE_LIMIT_LOCAL",
        "UNAVAILABLE APP_STORE_UNAVAILABLE", "UNAVAILABLE APP_STORE_UNAVAILABLE",
        "UNAVAILABLE APP_STORE_UNAVAILABLE", "DEADLINE_EXCEEDED APP_STORE_TIMED_OUT", "CANCELLED CANCELLED",
        "UNAVAILABLE APP_STORE_UNEXPECTED_STATUS",
      ])
    #expect(failed.prefix(5).map { Status($0).retrySeconds } == [nil, nil, 3, 3, 3])
    #expect(
      codes([Status(LookupError.noKey(appID: "ocean", environment: .sandbox))])
        == ["FAILED_PRECONDITION NO_IN_APP_PURCHASE_KEY"])
    #expect(
      codes([Status(DeviceCheckError.noKey(appID: "ocean", environment: .production))])
        == ["FAILED_PRECONDITION NO_DEVICE_CHECK_KEY"])
  }

  @Test("A response of Apple that cannot be used has the reason, and no delay unless a repetition may help")
  func unusableResponses() {
    let failed: [AppStoreClientError] = [
      .notJSON(status: 200, problem: "p"), .malformed(.wrongType(member: "m", expected: "a string")),
      .missing(field: "revision"), .tooLarge(limit: 16), .pageLoop(token: "t"),
    ]
    #expect(
      codes(failed.map { Status($0) }) == [
        "UNAVAILABLE APP_STORE_RESPONSE_NOT_JSON", "UNAVAILABLE APP_STORE_RESPONSE_MALFORMED",
        "UNAVAILABLE APP_STORE_RESPONSE_MALFORMED", "UNAVAILABLE APP_STORE_RESPONSE_TOO_LARGE",
        "UNAVAILABLE APP_STORE_PAGE_LOOP",
      ])
    #expect(failed.map { Status($0).retrySeconds } == [5, nil, nil, nil, nil])
  }

  @Test("A failure of the cryptographic library has its own reasons, and its text is for the log only")
  func cryptography() {
    let failure = CryptographyError.failed(operation: "sign with ES256", detail: "no memory")
    let statuses = [
      Status(AppStoreClientError.signingFailed("\(failure)")), Status(signing: "the offer", failed: failure),
      Status(LedgerError.notVerifiable(failure)),
    ]
    #expect(
      codes(statuses) == [
        "INTERNAL REQUEST_SIGNING_FAILED", "INTERNAL CRYPTOGRAPHY_FAILED", "UNAVAILABLE CRYPTOGRAPHY_FAILED",
      ])
    #expect(statuses.dropFirst().allSatisfy { $0.cause.contains(failure.description) })
    #expect(statuses.dropFirst().allSatisfy { !$0.message.contains("no memory") })
    #expect(statuses.map(\.retrySeconds) == [nil, nil, 1])
  }

  @Test("A store that cannot be used now has a delay before the next attempt")
  func store() {
    let errors: [StoreError] = [
      .overloaded(waiting: 9), .diskFull, .unavailable("r"), .conflict("r"), .outcomeUnknown("r"), .closed,
      .corrupt("r"),
    ]
    #expect(
      codes(errors.map { Status($0) }) == [
        "RESOURCE_EXHAUSTED STORE_OVERLOADED", "UNAVAILABLE DISK_FULL", "UNAVAILABLE STORE_UNAVAILABLE",
        "UNAVAILABLE STORE_UNAVAILABLE", "UNAVAILABLE OUTCOME_UNKNOWN", "UNAVAILABLE SHUTTING_DOWN",
        "UNAVAILABLE STORE_UNAVAILABLE",
      ])
    #expect(errors.map { Status($0).retrySeconds } == [1, 10, 1, 1, 1, 1, 1])
    // gRPC's own retries do not repeat a call that may have been executed.
    let pushback = errors.map { Status($0).pushbackMilliseconds }
    #expect(pushback == [100, 10_000, 1_000, 1_000, nil, 1_000, 1_000])
    #expect(Status(StoreError.deadlineExceeded).code == .deadlineExceeded)
    #expect(Status(StoreError.cancelled).code == .cancelled)
  }

  @Test("A call that the ledger refuses has the reason and the field")
  func ledger() {
    let errors: [LedgerError] = [
      .invalid(field: "note", problem: "is empty"), .unknownApp("sea", configured: ["ocean"]),
      .ownedByAnotherCustomer(originalTransactionID: "1"), .installOfAnotherCustomer,
      .unknownPurchase(originalTransactionID: "1"),
      .notTheOwner(originalTransactionID: "1"), .unknownTransfer("t"), .transferConflict(transfer: "t"),
      .revisionConflict(source: "play", externalID: "e", revision: 3), .seatTaken("s"),
      .tokenOfAnotherCustomer, .idempotencyKeyReused, .unknownCustomer,
      .tooManyRejections(retryAfterMilliseconds: 1_500),
    ]
    #expect(
      codes(errors.map { Status($0) }) == [
        "INVALID_ARGUMENT INVALID_FIELD", "NOT_FOUND UNKNOWN_APP",
        "FAILED_PRECONDITION OWNED_BY_ANOTHER_CUSTOMER", "FAILED_PRECONDITION OWNED_BY_ANOTHER_CUSTOMER",
        "NOT_FOUND UNKNOWN_PURCHASE",
        "FAILED_PRECONDITION NOT_THE_OWNER", "NOT_FOUND UNKNOWN_TRANSFER",
        "FAILED_PRECONDITION TRANSFER_CONFLICT", "ALREADY_EXISTS REVISION_CONFLICT",
        "FAILED_PRECONDITION SEAT_TAKEN", "ALREADY_EXISTS TOKEN_OF_ANOTHER_CUSTOMER",
        "ALREADY_EXISTS IDEMPOTENCY_KEY_REUSED", "NOT_FOUND UNKNOWN_CUSTOMER",
        "RESOURCE_EXHAUSTED TOO_MANY_REJECTIONS",
      ])
    #expect(
      errors.map { Status($0).invalidField } == [
        "note", "app", nil, nil, "original_transaction_id", "from_customer_id", "transfer_id", nil,
        "revision", nil, "app_account_token", "idempotency_key", "customer_id", nil,
      ])
    #expect(errors.last.flatMap { Status($0).retrySeconds } == 2)
  }

  @Test("Each ledger error about missing objects or the current state has its own reason")
  func ledgerState() {
    let errors: [LedgerError] = [
      .rejected(.otherLine, evidence: EvidenceID(rawValue: 7)), .unknownGrant("g"), .unknownNote("n"),
      .externalGrant("g"), .noSeats(.noSeats, originalTransactionID: "1"),
      .noSeats(.invitedByApple, originalTransactionID: "1"),
      .noSeatLeft(originalTransactionID: "1", bought: 2, held: 2),
      .alreadyPurchaser(originalTransactionID: "1"),
      .unknownSeat("s"), .unknownConsumable("c"), .alreadyFulfilled(transaction: "c", fulfillment: "f"),
      .responseErased,
    ]
    #expect(
      codes(errors.map { Status($0) }) == [
        "INVALID_ARGUMENT OTHER_PURCHASE_LINE", "NOT_FOUND UNKNOWN_GRANT", "NOT_FOUND UNKNOWN_NOTE",
        "FAILED_PRECONDITION EXTERNAL_GRANT", "FAILED_PRECONDITION NO_SEATS",
        "FAILED_PRECONDITION SEATS_ASSIGNED_BY_APPLE", "FAILED_PRECONDITION NO_SEAT_LEFT",
        "FAILED_PRECONDITION ALREADY_PURCHASER", "NOT_FOUND UNKNOWN_SEAT", "NOT_FOUND UNKNOWN_CONSUMABLE",
        "ALREADY_EXISTS ALREADY_FULFILLED", "FAILED_PRECONDITION RESPONSE_ERASED",
      ])
    #expect(
      errors.map { Status($0).invalidField } == [
        nil, "grant_id", "note_id", "grant_id", "original_transaction_id", "original_transaction_id", nil,
        "customer_id", "seat_id", "transaction_id", "fulfillment_id", "idempotency_key",
      ])
  }

  @Test("A caller without a valid credential or without a right gets the reason")
  func callers() {
    let errors: [CallerError] = [
      .noCredential, .notABearer, .unknownToken, .unknownSubject("ann", rolesClaim: nil),
      .badToken(reason: "r"), .unknownCertificate,
      .roleMissing(caller: "billing", needed: .operate), .appNotAllowed(caller: "billing", app: "sea"),
      .needsAllApps(caller: "billing"), .rateLimited(caller: "billing", retryAfterMilliseconds: 20),
    ]
    #expect(
      codes(errors.map { Status($0) }) == [
        "UNAUTHENTICATED NO_CREDENTIAL", "UNAUTHENTICATED NOT_A_BEARER_TOKEN",
        "UNAUTHENTICATED UNKNOWN_TOKEN", "UNAUTHENTICATED UNKNOWN_TOKEN", "UNAUTHENTICATED INVALID_TOKEN",
        "UNAUTHENTICATED UNKNOWN_CERTIFICATE",
        "PERMISSION_DENIED ROLE_MISSING", "PERMISSION_DENIED APP_NOT_ALLOWED",
        "PERMISSION_DENIED APP_SCOPE_REQUIRED", "RESOURCE_EXHAUSTED RATE_LIMIT",
      ])
  }

  @Test("An input of a migration job that cannot be used has the reason and the field")
  func migrations() {
    let errors: [MigrationError] = [
      .unknownMigration("m"), .migrationRunning("m"), .inputPathNotAllowed(path: "/etc", folder: "/imports"),
      .inputIsUpload("u"), .inputNotFound("f"), .inputUnreadable("f"), .invalidUploadID,
      .uploadOffsetMismatch(size: 7), .noRoomForUpload(limit: 9), .uploadFailed("d"),
      .concurrencyTooHigh(limit: 64),
    ]
    #expect(
      codes(errors.map { Status($0) }) == [
        "NOT_FOUND UNKNOWN_MIGRATION", "FAILED_PRECONDITION MIGRATION_RUNNING",
        "PERMISSION_DENIED INPUT_PATH_NOT_ALLOWED", "PERMISSION_DENIED INPUT_PATH_NOT_ALLOWED",
        "NOT_FOUND INPUT_NOT_FOUND", "FAILED_PRECONDITION INPUT_UNREADABLE", "INVALID_ARGUMENT INVALID_FIELD",
        "OUT_OF_RANGE UPLOAD_OFFSET_MISMATCH", "RESOURCE_EXHAUSTED UPLOAD_TOO_LARGE",
        "UNAVAILABLE UPLOAD_FAILED", "INVALID_ARGUMENT INVALID_FIELD",
      ])
    #expect(errors.compactMap { Status($0).invalidField }.contains("upload_id"))
  }
}
