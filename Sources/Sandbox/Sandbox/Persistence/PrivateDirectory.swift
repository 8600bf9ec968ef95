internal import Glibc

/// A directory that only this user may read and only one process may use at a time.
///
/// What ``write(_:_:)`` wrote is there after a power loss, whole: files are written beside their place,
/// flushed, and then put in it.
final class PrivateDirectory: StateFiles {
  let path: String
  /// The open directory; its lock is held until it is closed.
  private let descriptor: CInt

  /// Opens the directory, and makes it (not its parents) if it is not there.
  init(path: String) throws(SandboxError) {
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .unusable(path) }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .unusable(path) }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let error: SandboxError = errno == EWOULDBLOCK ? .inUse(path: path) : .unusable(path)
      close(descriptor)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// The content of a file as text, or `nil` if there is no such file.
  func read(_ name: String) throws(SandboxError) -> String? {
    let file = openat(descriptor, name, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw .unusable("\(path)/\(name)")
    }
    defer { close(file) }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = Glibc.read(file, &chunk, chunk.count)
      guard count >= 0 else { throw .unusable("\(path)/\(name)") }
      if count == 0 { return String(decoding: content, as: UTF8.self) }
      content.append(contentsOf: chunk[..<count])
    }
  }

  /// Replaces a file, or leaves the old one as it was. Returns when the new one is durable.
  func write(_ name: String, _ content: some Collection<UInt8>) throws(SandboxError) {
    let draft = "\(name).new"
    let file = openat(descriptor, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw .unusable("\(path)/\(draft)") }
    defer { close(file) }
    try writeAll(content, to: file, named: draft)
    guard fsync(file) == 0, renameat(descriptor, draft, descriptor, name) == 0, fsync(descriptor) == 0 else {
      throw .unusable("\(path)/\(name)")
    }
  }

  /// Gives a file another name. It has that after a power loss, too, when this returns.
  func rename(_ name: String, to other: String) throws(SandboxError) {
    guard renameat(descriptor, name, descriptor, other) == 0, fsync(descriptor) == 0 else {
      throw .unusable("\(path)/\(name)")
    }
  }

  private func writeAll(_ content: some Collection<UInt8>, to file: CInt, named name: String)
    throws(SandboxError)
  {
    var rest = Array(content)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      guard count > 0 else { throw .unusable("\(path)/\(name)") }
      rest = rest.dropFirst(count)
    }
  }
}

extension SandboxError {
  /// What the last system call had against `path`.
  fileprivate static func unusable(_ path: String) -> SandboxError {
    .unusable(path: path, detail: String(cString: strerror(errno)))
  }
}
