package import JSON
internal import Synchronization

/// The keys of entitlement tokens: the newest signs, all are published.
///
/// This allows rotation without downtime: a new key signs as soon as it is added; the old one stays published
/// until its last token expires, and is then removed.
package struct TokenKeyRing: Sendable {
  /// Signs new tokens.
  package let signer: JWTSigner
  /// The published JSON Web Key Set (RFC 7517, section 5), public keys only.
  package let jwks: JSONObject

  /// A ring of `keys`, newest first; `nil` if empty. The key id is the thumbprint.
  /// A key that occurs twice counts once.
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

  /// Reads the PEM files of a directory. The most recently modified file has the newest key.
  ///
  /// - Throws: ``PrivateKeyFileError``, also for a directory without keys.
  package init(directory: String) throws(PrivateKeyFileError) {
    var keys: [(key: SigningKey, changed: Int64)] = []
    for path in try PrivateKeyFile.list(directory) {
      let file = try PrivateKeyFile.readWithDate(path)
      guard file.key.reference.isP256 else {
        throw .notAKey(
          path: path, reason: "not on P-256; create a key with '\(PrivateKeyFileError.creation)'")
      }
      keys.append(file)
    }
    // Of two files with the same time, the later name is newer, so that all replicas sign with the same key.
    let newestFirst = keys.reversed().sorted { $0.changed > $1.changed }.map(\.key)
    let ring: TokenKeyRing?
    do { ring = try TokenKeyRing(newestFirst) } catch {
      throw .notAKey(path: directory, reason: error.description)
    }
    guard let ring else { throw .noKeys(directory: directory) }
    self = ring
  }
}

/// The current keys of entitlement tokens, reloadable from their directory.
package final class TokenKeys: Sendable {
  private let directory: String
  private let ring: Mutex<TokenKeyRing>

  /// Reads the keys in `directory`: PEM files that only their owner may access.
  ///
  /// - Throws: as ``TokenKeyRing/init(directory:)``.
  package init(directory: String) throws(PrivateKeyFileError) {
    self.directory = directory
    ring = Mutex(try TokenKeyRing(directory: directory))
  }

  /// The keys in effect; ``reload()`` replaces them for later calls.
  package var current: TokenKeyRing { ring.withLock { $0 } }

  /// Rereads the directory. If a key cannot be used, the current keys stay in effect.
  ///
  /// - Returns: the id of the signing key.
  /// - Throws: as ``init(directory:)``.
  @discardableResult
  package func reload() throws(PrivateKeyFileError) -> String {
    let fresh = try TokenKeyRing(directory: directory)
    ring.withLock { $0 = fresh }
    return fresh.signer.keyID
  }
}
