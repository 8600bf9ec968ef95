package import AppStore
internal import JSON

/// A payload that the verifier can check, of any kind.
package protocol SignedPayload: DecodedPayload {
  /// The time of signing, and the name of its member.
  var signing: (member: String, date: Instant?) { get }
  /// The environment that it names.
  var origin: SignedPayloadOrigin { get }
  /// The app that it is for.
  var app: SignedPayloadApp { get }
}

/// The environment that a payload names.
package enum SignedPayloadOrigin: Hashable, Sendable {
  /// One that this version supports.
  case known(Environment)
  /// An environment that this version does not support.
  case unknown(String)
  /// The payload lacks `member`.
  case missing(member: String)
  /// A notification of a type that is unknown to this version, without a part that names app or environment.
  case unnamed

  /// The origin from a member of `json` and its decoded value.
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

/// The form in which a payload names the app it is for.
package enum SignedPayloadApp: Hashable, Sendable {
  /// By its bundle identifier.
  case bundle(String?)
  /// By its bundle identifier, and in Production by its App Store number too.
  case bundleAndNumber(String?, Int64?)
  /// In Production by its App Store number, elsewhere not at all.
  case number(Int64?)
  /// Not at all: it belongs to the app of its subscription.
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

/// An app receipt that the verifier can check; the conforming type decodes its content.
package protocol SignedReceipt: Sendable {
  /// Decodes the content of the signed message.
  ///
  /// - Throws: ``VerificationError/notAReceipt(_:)`` or ``VerificationError/tooMany(_:limit:)``.
  init(signedContent: [UInt8]) throws(VerificationError)

  /// The time at which Apple created the receipt.
  var creationDate: Instant? { get }
  /// The environment that it names.
  var origin: SignedPayloadOrigin { get }
  /// The app that it is for.
  var bundleID: String? { get }
}
