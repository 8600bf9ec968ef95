internal import Glibc

/// The entries of directories: the names of their files.
package enum DirectoryEntries {
  /// Makes the names in the directory of the file at `path` durable. Without this, a new file can be missing after a power
  /// loss, although its content was synced.
  ///
  /// - Returns: whether it succeeded; otherwise, `errno` has the cause.
  package static func sync(around path: String) -> Bool {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { return false }
    defer { close(directory) }
    return fsync(directory) == 0
  }
}
