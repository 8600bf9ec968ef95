internal import AppStore
internal import Bytes
internal import JSON
internal import SignedData

/// Rotations of the certificates that sign the simulator's documents.
extension AppStoreSimulator {
  /// Replaces a certificate: `{"certificate": "leaf", "revoke": true}`. Returns the new chain.
  func rotate(_ parameters: Parameters) throws -> JSONObject {
    try parameters.allow(only: ["certificate", "revoke"])
    let known = SandboxCertificate.allCases.map(\.rawValue)
    let name = try parameters.choice("certificate", of: known)
    let isRevoked = try parameters.flagIfPresent("revoke") ?? false
    guard let certificate = SandboxCertificate(rawValue: name) else { return certificatesJSON }
    guard !isRevoked || certificate != .root else {
      throw ActionError.notPossible("a root has no OCSP responder; remove it from the trusted roots instead")
    }
    try rotate(certificate, revoking: isRevoked)
    return certificatesJSON
  }

  /// The chain of the documents that are signed now, leaf first, and the serial numbers of revoked certificates.
  var certificatesJSON: JSONObject {
    let chain = zip(SandboxCertificate.allCases, authority.chain).map { name, certificate -> JSONValue in
      [
        "certificate": .string(name.rawValue), "subject": .string(certificate.subject),
        "serialNumber": .string(certificate.serialNumber),
        "notBefore": .string(certificate.notBefore.description),
        "notAfter": .string(certificate.notAfter.description),
        "sha256": .string(Hex.encode(certificate.fingerprint())),
      ]
    }
    let revoked = authority.retired.revocations.sorted { $0.key < $1.key }.map { serial, time -> JSONValue in
      ["serialNumber": .string(serial), "at": .string(time.description)]
    }
    return ["chain": .array(chain), "revoked": .array(revoked)]
  }
}
