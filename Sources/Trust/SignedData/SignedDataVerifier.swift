package import AppStore
internal import JSON

/// A payload that passed every check. Only this module can create one, so a function that takes
/// `Verified<Payload>` cannot receive an unverified one.
package struct Verified<Payload: Sendable>: Sendable {
  package let payload: Payload
  /// The signer; `nil` for data of Xcode and local testing, which no trusted signer signed.
  package let signer: Signer?

  init(_ payload: Payload, signer: Signer?) {
    self.payload = payload
    self.signer = signer
  }
}

/// The signer of a document.
package struct Signer: Hashable, Sendable {
  /// The subject of the signing certificate.
  package let subject: String
  /// The subject of the root at the end of its chain.
  package let anchor: String
  /// The period in which all certificates of the chain are valid.
  package let validity: ClosedRange<Instant>
}

/// Verifies that a signed document comes from Apple, is unaltered, and is for this app.
///
/// Certificates must be valid at the time of signing, not today: a purchase stays proven after its
/// certificate has expired.
package final class SignedDataVerifier: Sendable {
  let chains: ChainVerifier
  private let cache = ChainCache<VerifiedChain>()
  /// The chains of receipts.
  let trusts = ChainCache<SignerTrust>()

  /// A verifier that trusts `anchors`.
  ///
  /// - Throws: ``CryptographyError`` if OpenSSL cannot load an anchor.
  package init(anchors: TrustAnchors) throws(CryptographyError) {
    chains = try ChainVerifier(anchors: anchors)
  }

  /// Verifies a signed transaction.
  ///
  /// `environments` are those that `app` accepts. Data of Xcode and of local testing has no trusted
  /// signature; including these environments accepts it without verification.
  ///
  /// - Throws: ``VerificationError``, the first of its cases that applies.
  package func verifyTransaction(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<JWSTransactionDecodedPayload> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies a signed renewal info. It names no app, so the app is not checked; a document of another kind is rejected.
  ///
  /// - Throws: ``VerificationError``, the first of its cases that applies.
  package func verifyRenewalInfo(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<JWSRenewalInfoDecodedPayload> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies a signed app transaction.
  ///
  /// - Throws: ``VerificationError``, the first of its cases that applies.
  package func verifyAppTransaction(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<AppTransactionPayload> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies a retention message request. It names its app by the App Store id only, which is checked in
  /// Production.
  ///
  /// - Throws: ``VerificationError``, the first of its cases that applies.
  package func verifyRealtimeRequest(
    _ jws: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<DecodedRealtimeRequestBody> {
    try verify(jws, for: app, environments: environments)
  }

  /// Verifies a document of any kind; the checks run in the order of ``VerificationError``'s cases.
  /// `hasKnownSignature`: as for ``verifyNotification(_:for:environments:hasKnownSignatures:)``.
  ///
  /// - Throws: the first check that fails. Only ``VerificationError/cryptographyFailed(_:)`` is no statement about
  ///   the document.
  package func verify<Payload: SignedPayload>(
    _ text: String, for app: AppIdentity, environments: Set<Environment>, hasKnownSignature: Bool = false
  ) throws(VerificationError) -> Verified<Payload> {
    let jws = try CompactJWS(text)
    // Decoded before it is verified: its environment decides which checks apply. Until the signature is
    // verified, errors reveal nothing about it except that it is from Xcode.
    let untrusted = UntrustedPayload<Payload>(try jws.decodedPayload())
    if let environment = untrusted.environment, !environment.isSignedByApple {
      guard environments.contains(environment) else { throw .xcodeNotAllowed(environment) }
      return Verified(try untrusted.unsignedPayload(for: app), signer: nil)
    }
    let chain = try signingChain(of: jws, hasKnownSignature: hasKnownSignature)
    return Verified(
      try untrusted.payload(signedBy: chain, for: app, in: environments), signer: chain.signer)
  }

  /// Returns the certificates of a document, leaf to root, if they lead to a trusted root: the input of
  /// ``OnlineChecks``. Does not verify the signature. Empty for documents without one.
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

  /// Returns the chain whose key made the document's signature.
  private func signingChain(
    of jws: CompactJWS, hasKnownSignature: Bool
  ) throws(VerificationError) -> VerifiedChain {
    if let known = cache.chain(for: jws.header) {
      if hasKnownSignature { return known }
      try checkSignature(of: jws, with: known.key)
      return known
    }
    let chain = try chains.verify(JWSHeader(jws.decodedHeader()))
    try checkSignature(of: jws, with: chain.key)
    cache.insert(chain, for: jws.header)
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
