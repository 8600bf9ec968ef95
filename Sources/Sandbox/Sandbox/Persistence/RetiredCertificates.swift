internal import AppStore
internal import JSON
internal import SignedData

/// A certificate of the sandbox's chain; the raw values are those of the test interface.
package enum SandboxCertificate: String, Hashable, Sendable, CaseIterable {
  case leaf, intermediate, root

  /// The place in a chain, from the leaf.
  var position: Int {
    switch self {
    case .leaf: 0
    case .intermediate: 1
    case .root: 2
    }
  }
}

/// The fate of certificates that rotations replaced: the OCSP responder continues to answer about them.
struct RetiredCertificates: Sendable {
  /// Replaced intermediates, the latest last. They sign the responses about the leaves that they issued.
  private(set) var intermediates: [CertificateIssuer] = []
  /// When certificates were revoked, by serial number.
  private(set) var revocations: [String: Instant] = [:]
  /// The private keys of ``intermediates``, in PEM.
  private var keys: [String] = []

  private static let file = "retired.json"
  private static let maxIntermediates = 32
  private static let maxRevocations = 1_000

  /// Loads the stored certificates; without a file there are none.
  init(from directory: any StateFiles) throws(SandboxError) {
    guard let text = try directory.read(Self.file) else { return }
    do {
      let json = try JSONValue(parsing: Array(text.utf8)).objectValue ?? JSONObject()
      for entry in json["intermediates"]?.arrayValue ?? [] {
        let key = entry.objectValue?["key"]?.stringValue ?? ""
        intermediates.append(
          CertificateIssuer(
            certificate: try Certificate(pem: entry.objectValue?["certificate"]?.stringValue ?? ""),
            key: try SigningKey(pem: key)))
        keys.append(key)
      }
      for (serial, value) in json["revoked"]?.objectValue ?? JSONObject() {
        revocations[serial] = value.int64Value.map { Instant(millisecondsSince1970: $0) }
      }
    } catch {
      throw .corrupt(path: "\(directory.path)/\(Self.file)", detail: "\(error)")
    }
  }

  /// Records a revocation. Beyond a thousand, further ones are not recorded, and the responder reports those
  /// certificates as good.
  mutating func revoke(_ certificate: Certificate, at now: Instant) {
    guard revocations.count < Self.maxRevocations else { return }
    revocations[certificate.serialNumber] = now
  }

  /// Records a replaced intermediate with its private key in PEM. Of more than 32, the oldest are discarded, and the
  /// responder no longer answers about their leaves.
  mutating func retire(_ key: String, _ certificate: Certificate) throws(SandboxError) {
    do {
      intermediates.append(CertificateIssuer(certificate: certificate, key: try SigningKey(pem: key)))
    } catch { throw .cryptographyFailed(error) }
    keys.append(key)
    intermediates = Array(intermediates.suffix(Self.maxIntermediates))
    keys = Array(keys.suffix(Self.maxIntermediates))
  }

  /// Replaces the stored certificates.
  ///
  /// - Throws: ``SandboxError/unusable(path:detail:)``.
  func save(in directory: any StateFiles) throws(SandboxError) {
    let entries = zip(intermediates, keys).map { issuer, key -> JSONValue in
      ["certificate": .string(issuer.certificate.pem), "key": .string(key)]
    }
    let revoked = revocations.sorted { $0.key < $1.key }.map { ($0.key, JSONValue($0.value)) }
    let json: JSONObject = ["intermediates": .array(entries), "revoked": .object(JSONObject(revoked))]
    try directory.write(Self.file, json.serialized())
  }
}
