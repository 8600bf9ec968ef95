internal import Ledger
internal import RPC
internal import ReceiptMigration
internal import SignedData

// The statuses of documents that are rejected.

extension Status {
  /// The error of a document that is rejected without being stored.
  init(rejected rejection: Rejection, field: String) {
    self.init(rejection.statusCode, reason: rejection.reason, rejection.description, field: field)
  }
}

extension Rejection {
  /// A malformed document is an invalid argument; one of another signer or app is not permitted.
  var statusCode: StatusCode {
    switch self {
    case .incomplete, .otherLine, .unrecognized: .invalidArgument
    case .notVerified(let error): error.statusCode
    case .revoked: .permissionDenied
    }
  }
}

extension ReceiptRejection {
  /// A receipt that is unknown to Apple is not found; one of another owner could be submitted after a transfer.
  var statusCode: StatusCode {
    switch self {
    case .empty, .unrecognized, .otherDocument, .transactionIDZero: .invalidArgument
    case .notVerified(let error): error.statusCode
    case .notVerifiable, .wrongDevice, .rejectedByVerifyReceipt, .verificationMismatch, .revoked:
      .permissionDenied
    case .ownedByAnotherCustomer: .failedPrecondition
    case .unknownToApple, .notAtApple: .notFound
    }
  }
}

extension VerificationError {
  /// A document that cannot be parsed is an invalid argument; one that is not trusted for this app is not permitted.
  var statusCode: StatusCode {
    switch self {
    case .documentTooLarge, .notAJWS, .notBase64, .notAReceipt, .tooMany, .unsupportedAlgorithm,
      .wrongCertificateCount, .malformedCertificate,
      .malformedJSON, .malformedField, .missingField:
      .invalidArgument
    case .xcodeNotAllowed, .missingMarkerOID, .untrustedRoot, .unsupportedKey, .badSignature,
      .chainExpiredAtSigning, .wrongBundle, .wrongApp, .wrongEnvironment:
      .permissionDenied
    case .cryptographyFailed: .unavailable
    }
  }
}
