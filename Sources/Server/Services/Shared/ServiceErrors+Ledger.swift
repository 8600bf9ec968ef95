internal import FamilySharing
internal import Ledger
internal import RPC
internal import SignedData
internal import Store

// The statuses of calls that the ledger rejects. No switch has a `default`, as in ServiceErrors.swift.

extension Status {
  /// The status of a rejected call: code and reason are in this table, the field and the metadata below it.
  init(_ error: LedgerError) {
    switch error {
    case .store(let error): self.init(error)
    case .notChecked(let error): self.init(error)
    case .unknownApp(let id, let configured): self = .unknownApp(id, known: configured)
    case .unknownSegment(let name): self = .unknownSegment(name, field: "name")
    case .notVerifiable: self.init(notVerifiable: error)
    case .rejected(let rejection, _): self.init(error, rejection.statusCode, rejection.reason)
    case .invalid: self.init(error, .invalidArgument, "INVALID_FIELD")
    case .tooManyRejections: self.init(error, .resourceExhausted, "TOO_MANY_REJECTIONS")
    case .unknownCustomer: self.init(error, .notFound, "UNKNOWN_CUSTOMER")
    case .tokenOfAnotherCustomer: self.init(error, .alreadyExists, "TOKEN_OF_ANOTHER_CUSTOMER")
    case .unknownPurchase: self.init(error, .notFound, "UNKNOWN_PURCHASE")
    case .ownedByAnotherCustomer, .installOfAnotherCustomer:
      self.init(error, .failedPrecondition, "OWNED_BY_ANOTHER_CUSTOMER")
    case .notTheOwner: self.init(error, .failedPrecondition, "NOT_THE_OWNER")
    case .unknownTransfer: self.init(error, .notFound, "UNKNOWN_TRANSFER")
    case .transferConflict: self.init(error, .failedPrecondition, "TRANSFER_CONFLICT")
    case .unknownGrant: self.init(error, .notFound, "UNKNOWN_GRANT")
    case .externalGrant: self.init(error, .failedPrecondition, "EXTERNAL_GRANT")
    case .revisionConflict: self.init(error, .alreadyExists, "REVISION_CONFLICT")
    case .unknownNote: self.init(error, .notFound, "UNKNOWN_NOTE")
    case .noSeats(.noSeats, _): self.init(error, .failedPrecondition, "NO_SEATS")
    case .noSeats(.invitedByApple, _): self.init(error, .failedPrecondition, "SEATS_ASSIGNED_BY_APPLE")
    case .noSeatLeft: self.init(error, .failedPrecondition, "NO_SEAT_LEFT")
    case .alreadyPurchaser: self.init(error, .failedPrecondition, "ALREADY_PURCHASER")
    case .unknownSeat: self.init(error, .notFound, "UNKNOWN_SEAT")
    case .seatTaken: self.init(error, .failedPrecondition, "SEAT_TAKEN")
    case .unknownConsumable: self.init(error, .notFound, "UNKNOWN_CONSUMABLE")
    case .alreadyFulfilled: self.init(error, .alreadyExists, "ALREADY_FULFILLED")
    case .segmentExists: self.init(error, .alreadyExists, "SEGMENT_EXISTS")
    case .tooManySegments: self.init(error, .resourceExhausted, "TOO_MANY_SEGMENTS")
    case .configuredSegment: self.init(error, .failedPrecondition, "CONFIGURED_SEGMENT")
    case .idempotencyKeyReused: self.init(error, .alreadyExists, "IDEMPOTENCY_KEY_REUSED")
    case .responseErased: self.init(error, .failedPrecondition, "RESPONSE_ERASED")
    }
  }

  private init(_ error: LedgerError, _ code: StatusCode, _ reason: String) {
    self.init(
      code, reason: reason, error.publicMessage, metadata: error.metadata, field: error.field,
      retryAfterMilliseconds: error.retryAfterMilliseconds)
  }

  /// OpenSSL failed: the caller may try again, and only the operator's log has the cause.
  private init(notVerifiable error: LedgerError) {
    self.init(
      .unavailable, reason: "CRYPTOGRAPHY_FAILED", "the document could not be checked; try again",
      retryAfterMilliseconds: 1_000)
    cause = error.description
  }
}

extension LedgerError {
  /// The description, with the remedy where the contract has a method for it.
  fileprivate var publicMessage: String {
    guard case .ownedByAnotherCustomer(let line) = self else { return description }
    return "the purchase \(line) belongs to another customer; use TransferPurchase to move it"
  }

  fileprivate var retryAfterMilliseconds: Int64? {
    guard case .tooManyRejections(let wait) = self else { return nil }
    return wait
  }

  /// The field of the request that the error is about, as the contract names it.
  fileprivate var field: String? {
    switch self {
    case .invalid(let field, _): field
    case .unknownCustomer, .alreadyPurchaser: "customer_id"
    case .tokenOfAnotherCustomer: "app_account_token"
    case .unknownPurchase, .noSeats: "original_transaction_id"
    case .notTheOwner: "from_customer_id"
    case .unknownTransfer: "transfer_id"
    case .unknownGrant, .externalGrant: "grant_id"
    case .revisionConflict: "revision"
    case .unknownNote: "note_id"
    case .unknownSeat: "seat_id"
    case .unknownConsumable: "transaction_id"
    case .alreadyFulfilled: "fulfillment_id"
    case .segmentExists, .configuredSegment: "name"
    case .idempotencyKeyReused, .responseErased: "idempotency_key"
    case .rejected, .ownedByAnotherCustomer, .installOfAnotherCustomer, .transferConflict, .noSeatLeft,
      .seatTaken, .tooManySegments, .tooManyRejections:
      nil
    // Their statuses name other fields, or none.
    case .notVerifiable, .notChecked, .unknownApp, .unknownSegment, .store:
      nil
    }
  }

  /// The names and values of `ErrorInfo.metadata`, which programs read.
  fileprivate var metadata: [(name: String, value: String)] {
    switch self {
    case .rejected(_, let evidence): [("evidenceId", String(evidence.rawValue))]
    case .ownedByAnotherCustomer(let line), .unknownPurchase(let line), .notTheOwner(let line),
      .noSeats(_, let line), .alreadyPurchaser(let line):
      [("originalTransactionId", line)]
    case .noSeatLeft(let line, let bought, let held):
      [("originalTransactionId", line), ("purchased", String(bought)), ("claimed", String(held))]
    case .unknownTransfer(let id), .transferConflict(let id): [("transferId", id)]
    case .unknownGrant(let id), .externalGrant(let id): [("grantId", id)]
    case .revisionConflict(let source, let id, let revision):
      [("source", source), ("externalId", id), ("revision", String(revision))]
    case .unknownNote(let id): [("noteId", id)]
    case .unknownSeat(let id), .seatTaken(let id): [("seatId", id)]
    case .unknownConsumable(let id): [("transactionId", id)]
    case .alreadyFulfilled(let id, let last): [("transactionId", id), ("fulfillmentId", last)]
    case .invalid, .installOfAnotherCustomer, .tokenOfAnotherCustomer, .segmentExists, .tooManySegments,
      .configuredSegment, .unknownCustomer, .idempotencyKeyReused, .responseErased, .tooManyRejections,
      .notVerifiable, .notChecked, .unknownApp, .unknownSegment, .store:
      []
    }
  }
}
