internal import Synchronization

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
