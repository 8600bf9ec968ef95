internal import Bytes
package import JSON

/// The public keys of a token issuer (RFC 7517), from its `jwks.json`. Two sets are equal if their documents are.
package struct JSONWebKeySet: Sendable, Equatable {
  private let keys: [JSONWebKey]
  /// The hash of the document.
  private let digest: [UInt8]
  /// The number of keys that are tried for a token. Verifying one signature takes a tenth of a millisecond, and anyone
  /// can leave out the key id.
  private static let maxCandidates = 8
  /// The problems of keys that were skipped, for the operator's log.
  package let skipped: [String]

  /// Decodes a key set. Skips keys that are not for ES256 or RS256, and unusable ones. No key may remain if `allowsNoKey`:
  /// a set that was fetched may be empty, because its issuer has withdrawn all keys.
  ///
  /// - Throws: if the set is malformed, or if no key remains and that is not allowed.
  package init(parsing bytes: [UInt8], allowsNoKey: Bool = false) throws(CryptographyError) {
    guard case .object(let set)? = try? JSONValue(parsing: bytes, duplicates: .rejected),
      let members = set["keys"]?.arrayValue
    else { throw .unreadable(what: "a JSON Web Key Set", detail: "") }
    var keys: [JSONWebKey] = []
    var skipped: [String] = []
    for case .object(let member) in members {
      do throws(CryptographyError) {
        if let key = try JSONWebKey(member) { keys.append(key) }
      } catch {
        skipped.append("\(member["kid"]?.stringValue?.prefix(100) ?? "without kid"): \(error)")
      }
    }
    guard allowsNoKey || !keys.isEmpty else {
      throw .unreadable(
        what: "a JSON Web Key Set", detail: (["no key for ES256 or RS256"] + skipped).joined(separator: "; "))
    }
    self.keys = keys
    self.skipped = skipped
    digest = SHA256.hash(bytes[...])
  }

  /// Whether no token has a valid signature.
  package var isEmpty: Bool { keys.isEmpty }

  package static func == (left: JSONWebKeySet, right: JSONWebKeySet) -> Bool { left.digest == right.digest }

  /// Returns the claims of a token in compact serialization that one of the keys signed. The caller validates
  /// the claims.
  ///
  /// - Throws: ``TokenError``. The caller checks issuer, audience and expiry.
  package func claims(of token: String) throws(TokenError) -> JSONObject {
    let jws: CompactJWS
    let header: JSONObject
    let payload: [UInt8]
    do throws(VerificationError) {
      jws = try CompactJWS(token)
      header = try JWSHeader.object(jws.decodedHeader())
      payload = try jws.decodedPayload()
    } catch {
      throw .malformed
    }
    guard header["crit"] == nil, Self.hasValidKeyID(header), let algorithm = header["alg"]?.stringValue else {
      throw .malformed
    }
    guard ["ES256", "RS256"].contains(algorithm) else { throw .unsupportedAlgorithm }
    let keyID = header["kid"]?.stringValue
    let candidates = keys.filter { $0.algorithm == algorithm && (keyID == nil || $0.keyID == keyID) }
    guard !candidates.isEmpty else { throw .unknownKey }
    guard candidates.count <= Self.maxCandidates else { throw .ambiguousKey }
    guard candidates.contains(where: { (try? $0.verifies(jws)) ?? false }) else { throw .badSignature }
    guard case .object(let claims)? = try? JSONValue(parsing: payload, duplicates: .rejected) else {
      throw .malformed
    }
    return claims
  }

  /// Whether `kid` is missing or a string (RFC 7515, section 4.1.4).
  private static func hasValidKeyID(_ header: JSONObject) -> Bool {
    header["kid"].map { $0.stringValue != nil } ?? true
  }
}

/// The reason a token is invalid. No case contains any part of the token.
package enum TokenError: Error, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// It is not three parts in base64url, or its header or claims are not JSON objects.
  case malformed
  /// Its `alg` is neither ES256 nor RS256; `none` among others.
  case unsupportedAlgorithm
  /// The set has no key with that id and algorithm; a newer set may.
  case unknownKey
  /// Too many keys may have signed it, because it has no `kid`.
  case ambiguousKey
  /// No key of its key id made the signature.
  case badSignature

  package var description: String {
    switch self {
    case .malformed: "not a JSON Web Token"
    case .unsupportedAlgorithm: "unsupported algorithm, expected ES256 or RS256"
    case .unknownKey: "unknown signing key"
    case .ambiguousKey: "no key id, and the issuer has many keys"
    case .badSignature: "invalid signature"
    }
  }
}

/// A public key of a key set (RFC 7517): on P-256 for ES256, or RSA for RS256.
struct JSONWebKey: Sendable {
  /// The key id; empty if it has none.
  let keyID: String
  /// RFC 7518, section 3.1.
  let algorithm: String
  private let key: KeyReference

  /// The minimum for RS256 (RFC 7518, section 3.3).
  private static let minRSABits = 2048

  /// Decodes a key; `nil` if it is not for ES256 or RS256 signatures.
  init?(_ json: JSONObject) throws(CryptographyError) {
    guard Self.isForSignatures(json) else { return nil }
    switch (json["kty"]?.stringValue, json["crv"]?.stringValue) {
    case ("EC", "P-256"):
      algorithm = "ES256"
      key = try KeyReference.publicKey(
        der: SubjectPublicKey.p256(try Self.bytes("x", json), Self.bytes("y", json)))
    case ("RSA", _):
      algorithm = "RS256"
      key = try KeyReference.publicKey(
        der: SubjectPublicKey.rsa(try Self.bytes("n", json), Self.bytes("e", json)))
      guard key.bits >= Self.minRSABits else {
        throw .unreadable(what: "an RSA key of at least \(Self.minRSABits) bits", detail: "")
      }
    default: return nil
    }
    if let named = json["alg"]?.stringValue, named != algorithm { return nil }
    keyID = json["kid"]?.stringValue ?? ""
  }

  /// Whether the owner of a key permits its use for signatures (RFC 7517, sections 4.2 and 4.3).
  private static func isForSignatures(_ json: JSONObject) -> Bool {
    let use = json["use"].map { $0.stringValue == "sig" } ?? true
    let operations = json["key_ops"].map { $0.arrayValue?.contains("verify") ?? false } ?? true
    return use && operations
  }

  /// Whether a JWS has this key's signature.
  func verifies(_ jws: CompactJWS) throws(CryptographyError) -> Bool {
    guard var signature = try? jws.decodedSignature() else { return false }
    if algorithm == "ES256" {
      guard let der = ECDSASignature(raw: signature[...])?.der else { return false }
      signature = der
    }
    return try key.verifies(signature, ofHashed: jws.signingInput)
  }

  private static func bytes(_ name: String, _ json: JSONObject) throws(CryptographyError) -> [UInt8] {
    guard let text = json[name]?.stringValue, let bytes = Base64.url.decode(text),
      !bytes.isEmpty
    else { throw .unreadable(what: "a JSON Web Key", detail: "\(name) is not base64url") }
    return bytes
  }
}

/// Encodes the parts of a JSON Web Key as SubjectPublicKeyInfo (RFC 5280, section 4.1).
private enum SubjectPublicKey {
  private static let ecPublicKeyOnP256: [UInt8] = [
    0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D,
    0x03, 0x01, 0x07,
  ]
  private static let rsaEncryption: [UInt8] = [
    0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]

  /// OpenSSL rejects a point that is not on the curve.
  static func p256(_ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
    sequence(ecPublicKeyOnP256 + bitString([0x04] + x + y))
  }

  static func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
    sequence(rsaEncryption + bitString(sequence(integer(modulus) + integer(exponent))))
  }

  private static func sequence(_ content: [UInt8]) -> [UInt8] { tagged(0x30, content) }

  private static func bitString(_ content: [UInt8]) -> [UInt8] { tagged(0x03, [0] + content) }

  /// A non-negative INTEGER: a zero byte precedes a leading 1 bit.
  private static func integer(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array(bytes.drop { $0 == 0 })
    return tagged(0x02, (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits)
  }

  /// An element in DER: the tag, the length and the content.
  private static func tagged(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    var length: [UInt8] = []
    var rest = content.count
    repeat {
      length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    } while rest > 0
    let isShort = content.count < 0x80
    return [tag] + (isShort ? length : [0x80 | UInt8(length.count)] + length) + content
  }
}
