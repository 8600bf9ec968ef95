package import JSON
internal import Synchronization

/// The keys of entitlement tokens at one moment: the newest signs, all are published.
///
/// So a key is changed without anyone noticing: a new one is added and signs from then on, the old one stays
/// published until its last token has expired, and is then taken away.
package struct TokenKeyRing: Sendable {
  /// Signs new tokens.
  package let signer: JWTSigner
  /// The JSON Web Key Set (RFC 7517, section 5) that those who check tokens read: public halves only.
  package let jwks: JSONObject

  /// A ring of `keys`, the newest first; `nil` if there are none. A key's name is its thumbprint.
  package init?(_ keys: [SigningKey]) throws(CryptographyError) {
    var signers: [JWTSigner] = []
    for key in keys {
      let signer = try JWTSigner(key: key, keyID: key.thumbprint())
      if !signers.contains(where: { $0.keyID == signer.keyID }) { signers.append(signer) }
    }
    guard let newest = signers.first else { return nil }
    self.signer = newest
    var published: [JSONValue] = []
    for signer in signers { published.append(.object(try signer.publicJWK())) }
    jwks = ["keys": .array(published)]
  }

  /// The keys in the PEM files of a directory. The one whose file was changed last is the newest.
  ///
  /// - Throws: ``PrivateKeyFileError``, also if there is no key.
  package init(directory: String) throws(PrivateKeyFileError) {
    var keys: [(key: SigningKey, changed: Int64)] = []
    for path in try PrivateKeyFile.list(directory) {
      let file = try PrivateKeyFile.readWithDate(path)
      guard file.key.reference.isP256 else { throw .notAKey(path: path, reason: "it is not on P-256") }
      keys.append(file)
    }
    // Of two changed at once the later name is the newer, so that every replica signs with the same one.
    let newestFirst = keys.reversed().sorted { $0.changed > $1.changed }.map(\.key)
    let ring: TokenKeyRing?
    do { ring = try TokenKeyRing(newestFirst) } catch {
      throw .notAKey(path: directory, reason: error.description)
    }
    guard let ring else { throw .noKeys(directory: directory) }
    self = ring
  }
}

/// The keys of entitlement tokens that are in force, and where others come from.
package final class TokenKeys: Sendable {
  private let directory: String
  private let ring: Mutex<TokenKeyRing>

  /// Reads the keys in `directory`: PEM files that only their owner may touch.
  package init(directory: String) throws(PrivateKeyFileError) {
    self.directory = directory
    ring = Mutex(try TokenKeyRing(directory: directory))
  }

  /// The keys in force.
  package var current: TokenKeyRing { ring.withLock { $0 } }

  /// Reads the directory again; what a signal to the program calls for. If a key in it cannot be used, all
  /// stays as it was.
  ///
  /// - Returns: the name of the key that signs from now on.
  @discardableResult
  package func reload() throws(PrivateKeyFileError) -> String {
    let fresh = try TokenKeyRing(directory: directory)
    ring.withLock { $0 = fresh }
    return fresh.signer.keyID
  }
}
