package import AppStore
package import JSON

/// What the verifier asks of a payload, whatever it is about.
package protocol SignedPayload: Sendable {
  /// Reads the payload's members.
  init(json: JSONObject) throws(PayloadError)

  /// When it was signed, and the name of the member that says so.
  var signing: (member: String, date: Instant?) { get }
  /// Where it belongs, and the name of the member that says so.
  var origin: (member: String, environment: Environment?) { get }
  /// The app it is for.
  var app: SignedPayloadApp { get }
}

/// How a payload names the app it is for.
package enum SignedPayloadApp: Hashable, Sendable {
  /// By its bundle identifier.
  case bundle(String?)
  /// By its bundle identifier, and in Production by its App Store number too.
  case bundleAndNumber(String?, Int64?)
  /// Not at all: it counts for the app of the subscription it is about.
  case unnamed
}

extension JWSTransactionDecodedPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("signedDate", signedDate) }
  package var origin: (member: String, environment: Environment?) { ("environment", environment) }
  package var app: SignedPayloadApp { .bundle(bundleId) }
}

extension JWSRenewalInfoDecodedPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("signedDate", signedDate) }
  package var origin: (member: String, environment: Environment?) { ("environment", environment) }
  package var app: SignedPayloadApp { .unnamed }
}

extension AppTransactionPayload: SignedPayload {
  package var signing: (member: String, date: Instant?) { ("receiptCreationDate", receiptCreationDate) }
  package var origin: (member: String, environment: Environment?) { ("receiptType", receiptType) }
  package var app: SignedPayloadApp { .bundleAndNumber(bundleId, appAppleId) }
}
