package import AppStore
internal import JSON

/// A payload that passed every check. Only this module can make one, so a function that takes
/// `Verified<Payload>` cannot be handed anything else.
package struct Verified<Payload: Sendable>: Sendable {
  package let payload: Payload
  /// Who signed it; `nil` for data of Xcode and local testing, which nobody that counts signed.
  package let signer: Signer?

  init(_ payload: Payload, signer: Signer?) {
    self.payload = payload
    self.signer = signer
  }
}

/// Whose signature a document carries.
package struct Signer: Hashable, Sendable {
  /// The subject of the certificate that signed.
  package let subject: String
  /// The subject of the root it was traced to.
  package let anchor: String
  /// When all certificates of the chain were valid at once.
  package let validity: ClosedRange<Instant>
}

/// Decides whether a signed document is Apple's, whole, and meant for this app.
///
/// Certificates are judged at the moment when the document says it was signed, not today: a purchase
/// stays proven after the certificate that signed it has expired.
package final class SignedDataVerifier: Sendable {
  let chains: ChainVerifier
  private let cache = ChainCache<VerifiedChain>()
  /// Those of receipts.
  let trusts = ChainCache<SignerTrust>()

  /// A verifier that trusts `anchors`.
  package init(anchors: TrustAnchors) throws(CryptographyError) {
    chains = try ChainVerifier(anchors: anchors)
  }

  /// Verifies a signed transaction.
  ///
  /// `environments` are those that `app` accepts. Data of Xcode and of local testing is signed by
  /// nobody that counts; listing these environments means taking it as it is.
  package func verifyTransaction(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<JWSTransactionDecodedPayload> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies a signed renewal info. It names no app, so none is compared.
  package func verifyRenewalInfo(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<JWSRenewalInfoDecodedPayload> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies a signed app transaction.
  package func verifyAppTransaction(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<AppTransactionPayload> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies Apple's question what to show a customer who is about to cancel. It names its app by the App
  /// Store number only, which counts in Production.
  package func verifyRealtimeRequest(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<DecodedRealtimeRequestBody> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies a document of any kind; the questions are asked in ``VerificationError``'s order.
  package func verify<Payload: SignedPayload>(
    _ text: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<Payload> {
    let jws = try CompactJWS(text)
    // Read before it is believed: what it claims to be decides which checks there are. Nothing is
    // reported about it, other than that it is Xcode's, until the signature was found good.
    let claim = UntrustedPayload<Payload>(try jws.decodedPayload())
    if let environment = claim.environment, !environment.isSignedByApple {
      guard environments.contains(environment) else { throw .xcodeNotAllowed(environment) }
      return Verified(try claim.unsignedPayload(for: app), signer: nil)
    }
    let chain = try signingChain(of: jws)
    return Verified(
      try claim.payload(signedBy: chain, for: app, in: environments), signer: chain.signer)
  }

  /// The certificates that a document brings, the signer's first and the root last, if they lead to a trusted
  /// root: what ``OnlineChecks`` asks about. The signature is not looked at. None for what is not signed.
  package func certificates(of document: RecognizedDocument) throws(VerificationError) -> [Certificate] {
    switch document {
    case .jws(let text): try certificates(ofJWS: text)
    case .appReceipt(let receipt): try certificates(ofReceipt: receipt)
    case .notificationV1, .transactionReceipt: []
    }
  }

  private func certificates(ofJWS text: String) throws(VerificationError) -> [Certificate] {
    let jws = try CompactJWS(text)
    if let known = cache.chain(for: jws.header) { return known.certificates }
    return try chains.verify(JWSHeader(jws.decodedHeader())).certificates
  }

  /// The chain whose key made the document's signature.
  private func signingChain(of jws: CompactJWS) throws(VerificationError) -> VerifiedChain {
    if let known = cache.chain(for: jws.header) {
      try checkSignature(of: jws, with: known.key)
      return known
    }
    let chain = try chains.verify(JWSHeader(jws.decodedHeader()))
    try checkSignature(of: jws, with: chain.key)
    cache.remember(chain, for: jws.header)
    return chain
  }

  private func checkSignature(of jws: CompactJWS, with key: PublicKey) throws(VerificationError) {
    let signature = try jws.decodedSignature()
    let isValid: Bool
    do { isValid = try key.verifies(signature[...], of: jws.signingInput) } catch {
      throw .cryptographyFailed(error)
    }
    guard isValid else { throw .badSignature }
  }
}
