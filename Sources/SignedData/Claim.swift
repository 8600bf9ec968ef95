internal import AppStore
internal import JSON

/// What a document says, before and after it is known whether to believe it.
struct Claim<Payload: SignedPayload> {
  private let reading: Result<Payload, VerificationError>

  /// Reads a payload. If it cannot be read, the reason is kept for when it is asked for.
  init(_ bytes: [UInt8]) {
    reading = Result { () throws(VerificationError) in try Self.read(bytes) }
  }

  /// Where the document says it comes from; `nil` if it does not say or cannot be read.
  var environment: Environment? { try? reading.get().origin.environment }

  /// The payload of a document under the signature of `chain`, if it is one for `app`.
  func payload(signedBy chain: VerifiedChain, for app: AppIdentity, in environments: Set<Environment>)
    throws(VerificationError) -> Payload
  {
    let payload = try reading.get()
    guard let signed = payload.signing.date else { throw .missingField(payload.signing.member) }
    guard chain.signer.validity.contains(signed) else {
      throw .chainExpiredAtSigning(signed: signed, validity: chain.signer.validity)
    }
    guard let environment = payload.origin.environment else { throw .missingField(payload.origin.member) }
    guard chain.environments.contains(environment) else {
      throw .untrustedRoot("\(chain.signer.anchor) does not count for \(environment.rawValue)")
    }
    try check(payload, for: app, environment: environment)
    guard environments.contains(environment) else { throw .wrongEnvironment(environment) }
    return payload
  }

  /// The payload of a document that nobody signed whose signature counts, if it is one for `app`.
  func unsignedPayload(for app: AppIdentity) throws(VerificationError) -> Payload {
    let payload = try reading.get()
    guard let environment = payload.origin.environment else { throw .missingField(payload.origin.member) }
    try check(payload, for: app, environment: environment)
    return payload
  }

  private func check(_ payload: Payload, for app: AppIdentity, environment: Environment)
    throws(VerificationError)
  {
    switch payload.app {
    case .unnamed: break
    case .bundle(let bundle):
      try check(bundle: bundle, for: app)
    case .bundleAndNumber(let bundle, let number):
      try check(bundle: bundle, for: app)
      // Outside Production apps have no number, or 0.
      guard environment == .production, let expected = app.appAppleID else { break }
      guard let number else { throw .missingField("appAppleId") }
      guard number == expected else { throw .wrongApp(number) }
    }
  }

  private func check(bundle: String?, for app: AppIdentity) throws(VerificationError) {
    guard let bundle else { throw .missingField("bundleId") }
    guard bundle == app.bundleID else { throw .wrongBundle(excerpt(bundle)) }
  }

  private static func read(_ bytes: [UInt8]) throws(VerificationError) -> Payload {
    let value: JSONValue
    do { value = try JSONValue(parsing: bytes) } catch { throw .malformedJSON(error.description) }
    guard case .object(let object) = value else { throw .malformedJSON("it is not an object") }
    do { return try Payload(json: object) } catch { throw .malformedField(error) }
  }
}
