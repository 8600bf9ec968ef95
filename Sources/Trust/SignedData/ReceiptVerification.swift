package import AppStore
internal import Bytes

extension SignedDataVerifier {
  /// The maximum size of a receipt in bytes: enough for some ten thousand purchases; most have a few
  /// kilobytes.
  package static let maximumReceiptBytes = 8 << 20

  /// Verifies an app receipt: PKCS#7 signed data, in DER or BER, not in base64.
  ///
  /// The certificates must be valid at the receipt's creation date: those of nearly all receipts have expired
  /// since. `environments` are those that `app` accepts; including Xcode accepts its receipts without
  /// verification, because they have no trusted signature.
  ///
  /// - Throws: ``VerificationError/documentTooLarge(bytes:limit:)`` before anything is parsed; otherwise the first
  ///   check that fails.
  package func verifyReceipt<Receipt: SignedReceipt>(
    _ document: [UInt8], for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<Receipt> {
    guard document.count <= Self.maximumReceiptBytes else {
      throw .documentTooLarge(bytes: document.count, limit: Self.maximumReceiptBytes)
    }
    let message = try PKCS7Message(document)
    guard let leaf = message.signer else { throw .untrustedRoot("the signer's certificate is missing") }
    if leaf.isIssuedByXcode {
      guard environments.contains(.xcode) else { throw .xcodeNotAllowed(.xcode) }
      let receipt = try Receipt(signedContent: message.content)
      try receipt.check(for: app, in: [.xcode])
      return Verified(receipt, signer: nil)
    }
    guard ["SHA1", "SHA256"].contains(message.digest) else { throw .unsupportedAlgorithm(message.digest) }
    let trust = try trust(in: leaf, beside: message.certificates)
    // The same certificate object as in the trace, because OpenSSL caches the decoded key in it.
    guard message.isSigned(by: trust.certificates.first ?? leaf) else { throw .badSignature }
    trusts.insert(trust, for: Self.traced(leaf, message.certificates)[...])
    let receipt = try Receipt(signedContent: message.content)
    try receipt.check(signedBy: trust.signer)
    let environment = try receipt.environment()
    guard trust.environments.contains(environment) else {
      throw .untrustedRoot("\(trust.signer.anchor) is not trusted for \(environment.rawValue)")
    }
    try receipt.check(for: app, in: environments)
    return Verified(receipt, signer: trust.signer)
  }

  /// Verifies an app receipt in base64, its lines broken or not.
  ///
  /// - Throws: ``VerificationError/notBase64(_:)``; otherwise as for the decoded bytes.
  package func verifyReceipt<Receipt: SignedReceipt>(
    base64 text: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<Receipt> {
    let limit = Self.maximumReceiptBytes / 3 * 4
    guard text.utf8.count <= limit else { throw .documentTooLarge(bytes: text.utf8.count, limit: limit) }
    let document: [UInt8]
    do throws(Base64Fault) { document = try Base64.standard.decodeLines(Array(text.utf8)[...]) } catch {
      throw .notBase64(error.explanation(for: .standard))
    }
    return try verifyReceipt(document, for: app, environments: environments)
  }

  /// Returns the certificates of a receipt, leaf to root, if they lead to a trusted root. Does not verify the
  /// signature.
  func certificates(ofReceipt document: [UInt8]) throws(VerificationError) -> [Certificate] {
    guard document.count <= Self.maximumReceiptBytes else {
      throw .documentTooLarge(bytes: document.count, limit: Self.maximumReceiptBytes)
    }
    let message = try PKCS7Message(document)
    guard let leaf = message.signer else { throw .untrustedRoot("the signer's certificate is missing") }
    return try trust(in: leaf, beside: message.certificates).certificates
  }

  /// Builds the chain from the signer's certificate to a root through one of the receipt's certificates.
  private func trust(
    in leaf: Certificate, beside certificates: [Certificate]
  ) throws(VerificationError) -> SignerTrust {
    if let known = trusts.chain(for: Self.traced(leaf, certificates)[...]) { return known }
    guard leaf.hasExtension(MarkerOID.leaf) else { throw .missingMarkerOID(MarkerOID.leaf) }
    let issuers = certificates.filter { leaf.names(issuer: $0) }
    guard !issuers.isEmpty else { throw .untrustedRoot("the issuer's certificate is missing") }
    var problem = VerificationError.missingMarkerOID(MarkerOID.intermediate)
    // Apple's intermediates share names, and the first one need not be the issuer. A message has few certificates.
    for intermediate in issuers where intermediate.hasExtension(MarkerOID.intermediate) {
      do throws(VerificationError) { return try chains.trace(leaf: leaf, intermediate: intermediate) } catch {
        problem = error
      }
    }
    throw problem
  }

  /// Returns the cache key of a chain: DER is self-delimiting, so concatenation is unambiguous.
  private static func traced(_ leaf: Certificate, _ certificates: [Certificate]) -> [UInt8] {
    leaf.der + certificates.flatMap(\.der)
  }
}

extension SignedReceipt {
  fileprivate func check(signedBy signer: Signer) throws(VerificationError) {
    guard let creationDate else { throw .missingField("receipt_creation_date") }
    guard signer.validity.contains(creationDate) else {
      throw .chainExpiredAtSigning(signed: creationDate, validity: signer.validity)
    }
  }

  fileprivate func environment() throws(VerificationError) -> Environment {
    switch origin {
    case .known(let environment): return environment
    case .unknown(let name): throw .wrongEnvironment(excerpt(name))
    case .missing(let member): throw .missingField(member)
    case .unnamed: throw .missingField("receipt_type")
    }
  }

  fileprivate func check(for app: AppIdentity, in environments: Set<Environment>)
    throws(VerificationError)
  {
    guard let bundleID else { throw .missingField("bundle_id") }
    guard bundleID == app.bundleID else { throw .wrongBundle(excerpt(bundleID)) }
    let environment = try environment()
    guard environments.contains(environment) else { throw .wrongEnvironment(environment.rawValue) }
  }
}

extension Certificate {
  /// Whether StoreKit testing in Xcode issued the certificate on the developer's machine. Anyone can create
  /// such a certificate, so it proves nothing.
  fileprivate var isIssuedByXcode: Bool { isSelfIssued && subject.contains("/CN=StoreKit") }
}
