internal import Glibc

/// The reason a ``PrivateDirectory`` could not be opened, or one of its files not be read or written.
package enum PrivateDirectoryError: Error, Hashable, Sendable {
  /// Another process holds the lock of the directory or file at `path`.
  case inUse(path: String)
  /// A system call failed for the file or directory at `path`; `reason` is the system's text.
  case failed(path: String, reason: String)

  /// The failure of the last system call, which concerned `path`.
  static func lastFailure(at path: String) -> PrivateDirectoryError {
    .failed(path: path, reason: SystemError.last)
  }
}

/// A directory that only this user can read (mode 0700) and only one process can use at a time.
///
/// The lock is an advisory lock on the directory itself. The kernel releases it when the process ends, whatever the
/// cause.
package final class PrivateDirectory: Sendable {
  /// The path as given, absolute or relative to the working directory.
  package let path: String
  /// The open directory, which holds the lock until it is closed.
  private let descriptor: CInt

  /// Opens and locks the directory at `path`; creates it if it is missing, and the directories above it if
  /// `createsParents` is set.
  ///
  /// - Throws: ``PrivateDirectoryError/inUse(path:)`` if another process has the lock;
  ///   ``PrivateDirectoryError/failed(path:reason:)``.
  package init(_ path: String, createsParents: Bool = false) throws(PrivateDirectoryError) {
    if createsParents { try Self.createParents(of: path) }
    try Self.create(path)
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .lastFailure(at: path) }
    try lockOrClose(descriptor, of: path)
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  private static func createParents(of path: String) throws(PrivateDirectoryError) {
    var parent = path.hasPrefix("/") ? "" : "."
    for component in path.split(separator: "/").dropLast() {
      parent += "/" + component
      try create(parent)
    }
  }

  private static func create(_ path: String) throws(PrivateDirectoryError) {
    guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
    // Read-only file systems refuse to create a directory before they check whether it exists.
    let error = PrivateDirectoryError.lastFailure(at: path)
    guard access(path, F_OK) == 0 else { throw error }
  }

  /// Returns the content of the file `name`, or `nil` if it does not exist.
  ///
  /// - Throws: ``PrivateDirectoryError/failed(path:reason:)``, but not for a file that does not exist.
  package func read(_ name: String) throws(PrivateDirectoryError) -> [UInt8]? {
    let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw .lastFailure(at: "\(path)/\(name)")
    }
    defer { close(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(file, &chunk, chunk.count)
      guard count >= 0 else { throw .lastFailure(at: "\(path)/\(name)") }
      if count == 0 { return content }
      content.append(contentsOf: chunk[..<count])
    }
  }

  /// Replaces the file `name` as a whole, or leaves it unchanged if an error is thrown.
  ///
  /// The content is written to a temporary file, flushed and renamed: when the function returns, it survives a power
  /// loss.
  ///
  /// - Throws: ``PrivateDirectoryError/failed(path:reason:)``; the file has its former content then.
  package func replace(_ name: String, with content: some Collection<UInt8>) throws(PrivateDirectoryError) {
    let draft = "\(name).new"
    let file = openat(descriptor, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .lastFailure(at: "\(path)/\(draft)") }
    defer { close(file) }
    var rest = Array(content)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw .lastFailure(at: "\(path)/\(draft)") }
      rest = rest.dropFirst(count)
    }
    guard fsync(file) == 0, renameat(descriptor, draft, descriptor, name) == 0, fsync(descriptor) == 0 else {
      throw .lastFailure(at: "\(path)/\(name)")
    }
  }
}

/// Creates an empty file that only this user can read, if there is none at `path`.
///
/// SQLite takes an empty file for a new database and gives its log and index files the same rights. SQLite itself
/// would create a file that everyone can read. An error is ignored here, because opening the database reports it.
package func makePrivateFile(_ path: String) {
  let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  if file >= 0 { close(file) }
}

/// Takes the lock (`flock`) of an open file or directory, which the kernel releases when the descriptor is closed. Closes the
/// descriptor if another process holds the lock or the lock cannot be taken.
///
/// - Throws: ``PrivateDirectoryError/inUse(path:)`` if another process holds it.
func lockOrClose(_ descriptor: CInt, of path: String) throws(PrivateDirectoryError) {
  guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
  let error: PrivateDirectoryError = errno == EWOULDBLOCK ? .inUse(path: path) : .lastFailure(at: path)
  close(descriptor)
  throw error
}
