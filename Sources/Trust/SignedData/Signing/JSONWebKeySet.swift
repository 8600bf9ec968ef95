internal import Bytes
package import JSON

/// The keys with which somebody else signs tokens (RFC 7517), as their `jwks.json` has them.
package struct JSONWebKeySet: Sendable {
  private let keys: [JSONWebKey]

  /// Reads a key set. Keys of other kinds than ES256 and RS256 need are left out.
  ///
  /// - Throws: if it is none, if a key cannot be read, or if none is left.
  package init(parsing bytes: [UInt8]) throws(CryptographyError) {
    guard case .object(let set)? = try? JSONValue(parsing: bytes, duplicates: .refused),
      let members = set["keys"]?.arrayValue
    else { throw .unreadable(what: "a JSON Web Key Set", detail: "") }
    var keys: [JSONWebKey] = []
    for case .object(let member) in members {
      if let key = try JSONWebKey(member) { keys.append(key) }
    }
    guard !keys.isEmpty else {
      throw .unreadable(what: "a JSON Web Key Set", detail: "it has no key for ES256 or RS256")
    }
    self.keys = keys
  }

  /// The claims of a token in compact serialization that one of the keys has signed. What they say is the
  /// caller's to judge.
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
    guard header["crit"] == nil, let algorithm = header["alg"]?.stringValue else { throw .malformed }
    guard ["ES256", "RS256"].contains(algorithm) else { throw .unsupportedAlgorithm }
    let keyID = header["kid"]?.stringValue
    let candidates = keys.filter { $0.algorithm == algorithm && (keyID == nil || $0.keyID == keyID) }
    guard !candidates.isEmpty else { throw .unknownKey }
    guard candidates.contains(where: { (try? $0.verifies(jws)) ?? false }) else { throw .badSignature }
    guard case .object(let claims)? = try? JSONValue(parsing: payload, duplicates: .refused) else {
      throw .malformed
    }
    return claims
  }
}

/// Why a token is not to be believed. No case carries anything of the token.
package enum TokenError: Error, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  case malformed
  case unsupportedAlgorithm
  /// The set has no key of that name and algorithm; a newer one may have.
  case unknownKey
  case badSignature

  package var description: String {
    switch self {
    case .malformed: "it is not a JSON Web Token"
    case .unsupportedAlgorithm: "it is signed with another algorithm than ES256 and RS256"
    case .unknownKey: "its key is not among those of the issuer"
    case .badSignature: "its signature does not match"
    }
  }
}

/// One public key of a key set (RFC 7517) with which tokens are signed: on P-256 for ES256, or RSA for RS256.
struct JSONWebKey: Sendable {
  /// The key's name; empty if it has none.
  let keyID: String
  /// RFC 7518, section 3.1.
  let algorithm: String
  private let key: KeyReference

  /// RS256 must not be used with less (RFC 7518, section 3.3).
  private static let leastRSABits = 2048

  /// Reads a key; `nil` for one that is not for signatures of a kind that is known here.
  init?(_ json: JSONObject) throws(CryptographyError) {
    if let use = json["use"]?.stringValue, use != "sig" { return nil }
    switch (json["kty"]?.stringValue, json["crv"]?.stringValue) {
    case ("EC", "P-256"):
      algorithm = "ES256"
      key = try KeyReference.publicKey(
        der: SubjectPublicKey.p256(try Self.bytes("x", json), Self.bytes("y", json)))
    case ("RSA", _):
      algorithm = "RS256"
      key = try KeyReference.publicKey(
        der: SubjectPublicKey.rsa(try Self.bytes("n", json), Self.bytes("e", json)))
      guard key.bits >= Self.leastRSABits else {
        throw .unreadable(what: "an RSA key of at least \(Self.leastRSABits) bits", detail: "")
      }
    default: return nil
    }
    if let named = json["alg"]?.stringValue, named != algorithm { return nil }
    keyID = json["kid"]?.stringValue ?? ""
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
    else { throw .unreadable(what: "a JSON Web Key", detail: "its \(name) is not base64url") }
    return bytes
  }
}

/// SubjectPublicKeyInfo (RFC 5280, section 4.1) of the parts that a JSON Web Key has.
private enum SubjectPublicKey {
  private static let ecPublicKeyOnP256: [UInt8] = [
    0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D,
    0x03, 0x01, 0x07,
  ]
  private static let rsaEncryption: [UInt8] = [
    0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00,
  ]

  /// A point that is not on the curve is refused by OpenSSL when it reads it.
  static func p256(_ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
    sequence(ecPublicKeyOnP256 + bitString([0x04] + x + y))
  }

  static func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
    sequence(rsaEncryption + bitString(sequence(integer(modulus) + integer(exponent))))
  }

  private static func sequence(_ content: [UInt8]) -> [UInt8] { tagged(0x30, content) }

  private static func bitString(_ content: [UInt8]) -> [UInt8] { tagged(0x03, [0] + content) }

  /// A number that is not negative: a zero goes before a first bit that is set.
  private static func integer(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array(bytes.drop { $0 == 0 })
    return tagged(0x02, (digits.first ?? 0x80) & 0x80 == 0 ? digits : [0] + digits)
  }

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
