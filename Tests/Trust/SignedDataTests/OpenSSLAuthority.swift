import AppStore
import Foundation
import TestSupport

@testable import SignedData

/// A certificate authority that answers OCSP requests with the `openssl` command.
final class OpenSSLAuthority: Sendable {
  enum Verdict { case good, revoked, unknown }
  enum Signer { case issuer, delegate, stranger, leaf }

  static let revokedAt = Instant(rfc3339: "2026-02-03T04:05:06Z")!

  let root: Certificate
  let issuer: Certificate
  let leaf: Certificate
  let otherLeaf: Certificate
  let leafKey: SigningKey
  /// The command signs with the time of this machine. This is ten minutes later, so that a busy machine signs nothing
  /// in the future.
  let now = Instant(millisecondsSince1970: Int64(Date().timeIntervalSince1970 + 600) * 1000)

  private let folder = FileManager.default.temporaryDirectory.appending(path: "ocsp-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let day: Int64 = 86_400_000
    let (start, end) = (now.advanced(byMilliseconds: -day), now.advanced(byMilliseconds: 10 * day))
    let rootKey = try SigningKey.generate(.p384)
    let issuerKey = try SigningKey.generate(.p384)
    let authority = try CertificateIssuer.root(
      DistinguishedName([("CN", "Root")]), key: rootKey, from: start, until: end)
    let between = try authority.intermediate(
      DistinguishedName([("CN", "Issuer")]), key: issuerKey, from: start, until: end)
    let stranger = try CertificateIssuer.root(
      DistinguishedName([("CN", "Stranger")]), key: rootKey, from: start, until: end)
    root = authority.certificate
    issuer = between.certificate
    leafKey = try SigningKey.generate(.p256)
    func issue(_ name: String, _ extensions: [CertificateTemplate.Extension], _ key: SigningKey) throws
      -> Certificate
    {
      try CertificateTemplate(
        subject: DistinguishedName([("CN", name)]), publicKey: key.reference, notBefore: start,
        notAfter: end, extensions: [.endEntity, .signsData] + extensions,
        markers: [MarkerOID.leaf]
      ).signed(by: issuerKey, issuer: between.certificate)
    }
    leaf = try issue("Leaf", [.ocspResponder("http://ocsp.example.com/a")], leafKey)
    otherLeaf = try issue("Other", [], leafKey)
    let delegate = try issue("Delegate", [.answersForAuthority], leafKey)

    for (name, certificate, key) in [
      ("issuer", issuer, issuerKey), ("stranger", stranger.certificate, rootKey),
      ("delegate", delegate, leafKey), ("leaf", otherLeaf, leafKey),
    ] {
      try Data(certificate.pem.utf8).write(to: folder.appending(path: "\(name).pem"))
      try Data(key.pem().utf8).write(to: folder.appending(path: "\(name).key"))
    }
    try Data(leaf.pem.utf8).write(to: folder.appending(path: "subject.pem"))
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func answer(
    _ verdict: Verdict, signedBy signer: Signer = .issuer, days: Int? = 1
  ) throws -> OCSPResponse {
    try OCSPResponse(
      response: response(verdict, signedBy: signer, days: days), for: leaf, issuer: issuer, at: now)
  }

  /// Returns the command's response to a request for the leaf, without `nextUpdate` if `days` is `nil`.
  func response(
    _ verdict: Verdict, signedBy signer: Signer = .issuer, days: Int? = 1
  ) throws -> [UInt8] {
    let serial = try openssl(["x509", "-in", "subject.pem", "-noout", "-serial"])
      .replacingOccurrences(of: "serial=", with: "").trimmingCharacters(in: .whitespacesAndNewlines)
    let line =
      switch verdict {
      case .good: "V\t360101000000Z\t\t\(serial)\tunknown\t/CN=Leaf\n"
      case .revoked: "R\t360101000000Z\t260203040506Z\t\(serial)\tunknown\t/CN=Leaf\n"
      case .unknown: ""
      }
    let id = UUID().uuidString
    func path(_ name: String) -> URL { folder.appending(path: "\(id).\(name)") }
    try Data(line.utf8).write(to: path("index"))
    try Data(OCSPRequest(for: leaf, issuer: issuer).der).write(to: path("request"))
    _ = try openssl(
      [
        "ocsp", "-index", path("index").path, "-CA", "issuer.pem", "-rsigner", "\(signer).pem", "-rkey",
        "\(signer).key", "-reqin", path("request").path, "-respout", path("response").path,
      ] + (days.map { ["-ndays", String($0)] } ?? []))
    return [UInt8](try Data(contentsOf: path("response")))
  }

  private func openssl(_ arguments: [String]) throws -> String {
    try Command.run("/usr/bin/openssl", arguments, in: folder).text
  }
}

extension CertificateTemplate.Extension {
  /// 126 is OpenSSL's number of extendedKeyUsage.
  fileprivate static let answersForAuthority = Self(nid: 126, value: "OCSPSigning")
}
