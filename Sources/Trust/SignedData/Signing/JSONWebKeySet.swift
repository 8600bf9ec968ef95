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
