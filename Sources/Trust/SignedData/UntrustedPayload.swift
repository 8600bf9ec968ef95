internal import AppStore
internal import JSON

/// A decoded payload whose signature is not verified yet.
struct UntrustedPayload<Payload: SignedPayload> {
  private let reading: Result<Payload, VerificationError>

  /// Decodes a payload. A decoding error is stored and thrown on access.
  init(_ bytes: [UInt8]) {
    reading = Result { () throws(VerificationError) in try Self.read(bytes) }
  }

  /// The environment that the document names; `nil` if it is missing, unknown or cannot be decoded.
  var environment: Environment? {
    guard case .success(let payload) = reading, case .known(let environment) = payload.origin else {
      return nil
    }
    return environment
  }

  /// Returns the payload of a document that `chain` signed, if it is for `app`.
  func payload(signedBy chain: VerifiedChain, for app: AppIdentity, in environments: Set<Environment>)
    throws(VerificationError) -> Payload
  {
    let payload = try reading.get()
    guard let signed = payload.signing.date else { throw .missingField(payload.signing.member) }
    guard chain.signer.validity.contains(signed) else {
      throw .chainExpiredAtSigning(signed: signed, validity: chain.signer.validity)
    }
    if payload.origin == .unnamed {
      guard !chain.environments.isDisjoint(with: environments) else {
        throw .untrustedRoot("\(chain.signer.anchor) is not trusted for any environment of the app")
      }
      return payload
    }
    let environment = try Self.environment(of: payload)
    guard chain.environments.contains(environment) else {
      throw .untrustedRoot("\(chain.signer.anchor) is not trusted for \(environment.rawValue)")
    }
    try check(payload, for: app, environment: environment)
    guard environments.contains(environment) else {
      throw .wrongEnvironment(environment.rawValue)
    }
    return payload
  }

  /// Returns the payload of a document without a trusted signature, if it is for `app`.
  func unsignedPayload(for app: AppIdentity) throws(VerificationError) -> Payload {
    let payload = try reading.get()
    let environment = try Self.environment(of: payload)
    try check(payload, for: app, environment: environment)
    return payload
  }

  /// Checks the app that the payload names, by everything with which it names it. A renewal info names none and belongs
  /// to the app of its subscription.
  private func check(_ payload: Payload, for app: AppIdentity, environment: Environment)
    throws(VerificationError)
  {
    switch payload.app {
    case .unnamed:
      // Documents of other kinds have the members that are required so far, and may name another app.
      if let kind = SignedDocumentKind(payload: payload.json), kind != .renewalInfo {
        throw .missingField("autoRenewStatus")
      }
    case .bundle(let bundle):
      try check(bundle: bundle, for: app)
    case .bundleAndNumber(let bundle, let number):
      try check(bundle: bundle, for: app)
      try check(number: number, for: app, environment)
    case .number(let number):
      try check(number: number, for: app, environment)
    }
  }

  private func check(bundle: String?, for app: AppIdentity) throws(VerificationError) {
    guard let bundle else { throw .missingField("bundleId") }
    guard bundle == app.bundleID else { throw .wrongBundle(excerpt(bundle)) }
  }

  private func check(number: Int64?, for app: AppIdentity, _ environment: Environment)
    throws(VerificationError)
  {
    // Outside Production, apps have no App Store id, or 0.
    guard environment == .production, let expected = app.appAppleID else { return }
    guard let number else { throw .missingField("appAppleId") }
    guard number == expected else { throw .wrongApp(number) }
  }

  private static func environment(of payload: Payload) throws(VerificationError) -> Environment {
    switch payload.origin {
    case .known(let environment): return environment
    case .unknown(let name): throw .wrongEnvironment(excerpt(name))
    case .missing(let member): throw .missingField(member)
    case .unnamed: throw .missingField("environment")
    }
  }

  private static func read(_ bytes: [UInt8]) throws(VerificationError) -> Payload {
    let value: JSONValue
    do { value = try JSONValue(parsing: bytes, limits: .ofDocuments, duplicates: .rejected) } catch {
      throw .malformedJSON(error.description)
    }
    guard case .object(let object) = value else { throw .malformedJSON("not an object") }
    do { return try Payload(json: object) } catch { throw .malformedField(error) }
  }
}
