package import AppStore
internal import JSON

/// What the verifier asks of a payload, whatever it is about.
package protocol SignedPayload: DecodedPayload {
  /// When it was signed, and the name of the member that says so.
  var signing: (member: String, date: Instant?) { get }
  /// Where it belongs.
  var origin: SignedPayloadOrigin { get }
  /// The app it is for.
  var app: SignedPayloadApp { get }
}

/// Where a payload says that it belongs.
package enum SignedPayloadOrigin: Hashable, Sendable {
  case known(Environment)
  /// An environment that this version has no name for.
  case unknown(String)
  /// It does not say; `member` would.
  case missing(member: String)

  /// By the member of `json` that says it, and what could be made of it.
  init(_ environment: Environment?, in json: JSONObject, _ member: String, path: String? = nil) {
    if let environment {
      self = .known(environment)
    } else if case .string(let name)? = json[member] {
      self = .unknown(name)
    } else {
      self = .missing(member: path ?? member)
    }
  }
}

/// How a payload names the app it is for.
package enum SignedPayloadApp: Hashable, Sendable {
  /// By its bundle identifier.
  case bundle(String?)
  /// By its bundle identifier, and in Production by its App Store number too.
  case bundleAndNumber(String?, Int64?)
  /// In Production by its App Store number, elsewhere not at all.
  case number(Int64?)
  /// Not at all: it counts for the app of the subscription it is about.
  case unnamed
}

extension JWSTransactionDecodedPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("signedDate", signedDate) }
  package var origin: SignedPayloadOrigin { SignedPayloadOrigin(environment, in: json, "environment") }
  package var app: SignedPayloadApp { .bundle(bundleId) }
}

extension JWSRenewalInfoDecodedPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("signedDate", signedDate) }
  package var origin: SignedPayloadOrigin { SignedPayloadOrigin(environment, in: json, "environment") }
  package var app: SignedPayloadApp { .unnamed }
}

extension AppTransactionPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("receiptCreationDate", receiptCreationDate) }
  package var origin: SignedPayloadOrigin { SignedPayloadOrigin(receiptType, in: json, "receiptType") }
  package var app: SignedPayloadApp { .bundleAndNumber(bundleId, appAppleId) }
}

extension DecodedRealtimeRequestBody: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("signedDate", signedDate) }
  package var origin: SignedPayloadOrigin { SignedPayloadOrigin(environment, in: json, "environment") }
  package var app: SignedPayloadApp { .number(appAppleId) }
}

/// What the verifier asks of an app receipt. How it is encoded inside is for the conforming type to know.
package protocol SignedReceipt: Sendable {
  /// Reads the content of the signed message.
  ///
  /// Throws ``VerificationError/notAReceipt(_:)`` or ``VerificationError/tooMany(_:limit:)``.
  init(signedContent: [UInt8]) throws(VerificationError)

  /// When Apple made the receipt.
  var creationDate: Instant? { get }
  /// Where it belongs.
  var origin: SignedPayloadOrigin { get }
  /// The app it is for.
  var bundleID: String? { get }
}
