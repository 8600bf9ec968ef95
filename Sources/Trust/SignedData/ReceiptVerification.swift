package import AppStore
internal import Bytes

extension SignedDataVerifier {
  /// Largest receipt that is looked at. It fits the receipt of an app with some ten thousand purchases;
  /// most have a few kilobytes.
  package static let maximumReceiptBytes = 8 << 20

  /// Verifies an app receipt: PKCS#7 signed data, in DER or BER, not in base64.
  ///
  /// The certificates are judged at the receipt's creation date: those of nearly all genuine receipts
  /// have expired since. `environments` are those that `app` accepts; listing Xcode among them means
  /// taking its receipts as they are, for they are signed by nobody that counts.
  package func verifyReceipt<Receipt: SignedReceipt>(
    _ document: [UInt8], for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<Receipt> {
    guard document.count <= Self.maximumReceiptBytes else {
      throw .documentTooLarge(bytes: document.count, limit: Self.maximumReceiptBytes)
    }
    let message = try PKCS7Message(document)
    guard let leaf = message.signer else { throw .untrustedRoot("it brings no certificate of its signer") }
    if leaf.isIssuedByXcode {
      guard environments.contains(.xcode) else { throw .xcodeNotAllowed(.xcode) }
      let receipt = try Receipt(signedContent: message.content)
      try receipt.check(for: app, in: [.xcode])
      return Verified(receipt, signer: nil)
    }
    guard ["SHA1", "SHA256"].contains(message.digest) else { throw .unsupportedAlgorithm(message.digest) }
    let trust = try trust(in: leaf, beside: message.certificates)
    // The very certificate that was traced first, since OpenSSL keeps with it what it found out about its key.
    guard message.isSigned(by: trust.certificates.first ?? leaf) else { throw .badSignature }
    trusts.remember(trust, for: Self.traced(leaf, message.certificates)[...])
    let receipt = try Receipt(signedContent: message.content)
    try receipt.check(signedBy: trust.signer)
    let environment = try receipt.environment()
    guard trust.environments.contains(environment) else {
      throw .untrustedRoot("\(trust.signer.anchor) does not count for \(environment.rawValue)")
    }
    try receipt.check(for: app, in: environments)
    return Verified(receipt, signer: trust.signer)
  }

  /// Verifies an app receipt in base64, its lines broken or not.
  package func verifyReceipt<Receipt: SignedReceipt>(
    base64 text: String, for app: AppIdentity, environments: Set<Environment>
  ) throws(VerificationError) -> Verified<Receipt> {
    let limit = Self.maximumReceiptBytes / 3 * 4
    guard text.utf8.count <= limit else { throw .documentTooLarge(bytes: text.utf8.count, limit: limit) }
    let digits = text.utf8.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    guard let document = Base64.standard.decode(digits[...]) else { throw .notBase64 }
    return try verifyReceipt(document, for: app, environments: environments)
  }

  /// The certificates that a receipt brings, the signer's first and the root last, if they lead to a trusted
  /// root. The signature is not looked at.
  func certificates(ofReceipt document: [UInt8]) throws(VerificationError) -> [Certificate] {
    guard document.count <= Self.maximumReceiptBytes else {
      throw .documentTooLarge(bytes: document.count, limit: Self.maximumReceiptBytes)
    }
    let message = try PKCS7Message(document)
    guard let leaf = message.signer else { throw .untrustedRoot("it brings no certificate of its signer") }
    return try trust(in: leaf, beside: message.certificates).certificates
  }

  /// Traces the signer's certificate to a root through one of the certificates that came with it.
  private func trust(
    in leaf: Certificate, beside certificates: [Certificate]
  ) throws(VerificationError) -> SignerTrust {
    if let known = trusts.chain(for: Self.traced(leaf, certificates)[...]) { return known }
    guard leaf.hasExtension(MarkerOID.leaf) else { throw .missingMarkerOID(MarkerOID.leaf) }
    let issuers = certificates.filter { leaf.names(issuer: $0) }
    guard !issuers.isEmpty else { throw .untrustedRoot("it brings no certificate of its signer's issuer") }
    guard let intermediate = issuers.first(where: { $0.hasExtension(MarkerOID.intermediate) }) else {
      throw .missingMarkerOID(MarkerOID.intermediate)
    }
    return try chains.trace(leaf: leaf, intermediate: intermediate)
  }

  /// All that decides where a signer's certificate leads to: each certificate of DER says how long it is.
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
  /// Whether it is one that StoreKit testing in Xcode makes for itself on the developer's machine. Anybody
  /// can make one: it says what a receipt is not, and proves nothing.
  fileprivate var isIssuedByXcode: Bool { isSelfIssued && subject.contains("/CN=StoreKit") }
}
