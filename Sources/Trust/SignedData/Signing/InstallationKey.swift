internal import Bytes
internal import Glibc
internal import Platform

/// The secret of one installation, from which the keys of its other secrets are derived.
///
/// It is a separate file, so that a copy of the store alone does not contain it.
package struct InstallationKey: Sendable {
  private static let byteCount = 32

  private let bytes: [UInt8]

  /// A key with these bytes, for tests.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  /// Reads the key at `path`: base64 of 32 bytes or more.
  ///
  /// - Throws: ``PrivateKeyFileError``, also if others than the owner can read the file.
  package init(readingFrom path: String) throws(PrivateKeyFileError) {
    let text = try PrivateKeyFile.readSecret(path)
    guard let bytes = Base64.standard.decode(text), bytes.count >= Self.byteCount else {
      throw .notAKey(
        path: path, reason: "it is not base64 of 32 bytes or more; make one with 'openssl rand -base64 32'")
    }
    self.bytes = bytes
  }

  /// Reads the key at `path`, or creates a random one that only this user can read. A created key survives a power
  /// loss.
  ///
  /// - Throws: ``PrivateKeyFileError`` if the file cannot be created, and as ``init(readingFrom:)``.
  package init(creatingAt path: String) throws(PrivateKeyFileError) {
    if access(path, F_OK) != 0 {
      let text = Base64.standard.encode((0..<Self.byteCount).map { _ in UInt8.random(in: 0...255) })
      try Self.create(path, Array("\(text)\n".utf8))
    }
    try self.init(readingFrom: path)
  }

  /// The key for one purpose. Keys of different purposes reveal nothing about each other.
  package func derived(for purpose: String) -> [UInt8] {
    HMACSHA256.code(of: Array(purpose.utf8), key: bytes)
  }

  /// Writes a draft and links it to `path`, so that the file is never there in part.
  private static func create(_ path: String, _ content: [UInt8]) throws(PrivateKeyFileError) {
    let draft = "\(path).\(getpid())"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .systemError(path) }
    defer {
      close(file)
      unlink(draft)
    }
    guard write(file, content, content.count) == content.count, fsync(file) == 0,
      link(draft, path) == 0 || errno == EEXIST
    else { throw .systemError(path) }
    _ = DirectoryEntries.sync(around: path)
  }
}
