import AppReceipt
import AppStore
import SignedData
import TestSupport
import Testing

/// Receipts with several intermediate certificates of one name and key, as a renewed or cross-signed authority has them.
@Suite("Intermediates of one name") struct EqualIntermediateNamesTests {
  private let leafKey = try! SigningKey.generate(.p256)
  private let authorityKey = try! SigningKey.generate(.p256)
  private let start = ReceiptChain.start
  private let end = ReceiptChain.end

  private func root(_ name: String) throws -> CertificateIssuer {
    try .root(DistinguishedName([("CN", name)]), key: .generate(.p384), from: start, until: end)
  }

  private func intermediate(of root: CertificateIssuer) throws -> CertificateIssuer {
    try root.intermediate(
      DistinguishedName([("CN", "Intermediate")]), key: authorityKey, from: start, until: end)
  }

  /// A receipt with the intermediate of `trusted` and those of `strangers`. A message sorts its certificates by length
  /// first, so those of issuers with shorter names precede.
  private func receipt(_ trusted: CertificateIssuer, _ strangers: [CertificateIssuer]) throws -> [UInt8] {
    let issuer = try intermediate(of: trusted)
    let leaf = try issuer.leaf(
      DistinguishedName([("CN", "Leaf")]), key: leafKey, from: start, until: end)
    let others = try strangers.map { try intermediate(of: $0).certificate }
    let signer = ReceiptSigner(key: leafKey, chain: [leaf] + others + [issuer.certificate])
    return try signer.sign(content: ReceiptChain.content().content)
  }

  @Test("The one that leads to a trusted root is found among others")
  func all() throws {
    let trusted = try root("The trusted root, whose name is longer than all others")
    let verifier = try SignedDataVerifier(
      anchors: TrustAnchors.apple().adding(trusted.certificate, for: .sandbox))
    for count in [0, 1, 6] {
      let strangers = try (0..<count).map { try root("Stranger \($0)") }
      #expect(try verifier.refusal(of: receipt(trusted, strangers)) == nil)
    }
    let stranger = try root("Stranger")
    #expect(try verifier.refusal(of: receipt(stranger, [stranger])) == "UNTRUSTED_ROOT")
  }
}
