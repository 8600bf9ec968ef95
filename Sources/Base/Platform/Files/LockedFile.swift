internal import Glibc

/// A file that only this user can read (mode 0600) and only one process can use at a time.
///
/// The lock (`flock`) is on the file itself, so it holds under every path and link to the file. It does not touch
/// SQLite's own locks, which are of another kind (`fcntl`).
package final class LockedFile: Sendable {
  /// The path as given.
  package let path: String
  // SQLite's locks of a file end when the process closes any descriptor of it, so this one stays open as long as
  // connections do.
  private let descriptor: CInt

  /// Opens and locks the file at `path`; creates an empty one if it is missing.
  ///
  /// - Throws: ``PrivateDirectoryError/inUse(path:)`` if another process has the lock;
  ///   ``PrivateDirectoryError/failed(path:reason:)``.
  package init(_ path: String) throws(PrivateDirectoryError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lastFailure(at: path) }
    try lockOrClose(descriptor, of: path)
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}

/// Identifies a file on this machine, whatever its name.
package struct FileIdentity: Hashable, Sendable {
  private let device: dev_t
  private let number: ino_t
  /// The size in bytes when it was read; not part of the identity.
  package let size: Int64
  /// Whether it is neither a regular file nor a folder, but a pipe, for example; not part of the identity.
  package let isSpecial: Bool

  /// Reads the identity of the file at `path`; `nil` if there is none.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = status.st_dev
    number = status.st_ino
    size = Int64(status.st_size)
    isSpecial = ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  package static func == (left: FileIdentity, right: FileIdentity) -> Bool {
    left.device == right.device && left.number == right.number
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(device)
    hasher.combine(number)
  }
}
