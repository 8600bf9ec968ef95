package import Glibc

/// The file with the password of a database, which other programs of the machine may read too.
///
/// Unlike a key it may be readable for all if the service's user could not change that, because another user owns it or
/// its mount is read-only: Compose and Kubernetes provide secrets with mode 0444 or 0644 by default, and the server of the
/// database reads the same file as another user. A file that others than its owner can write is refused.
package enum PasswordFile {
  /// Requires that the service of `user`, by default this process, may use the mode of a file.
  ///
  /// - Throws: ``PrivateKeyFileError/unreadable(path:reason:)`` or
  ///   ``PrivateKeyFileError/accessibleToOthers(path:mode:)``.
  package static func check(_ path: String, user: uid_t = geteuid()) throws(PrivateKeyFileError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .systemError(path) }
    defer { close(file) }
    var (status, mount) = (stat(), statvfs())
    guard fstat(file, &status) == 0, fstatvfs(file, &mount) == 0 else { throw .systemError(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable(path: path, reason: "not a regular file")
    }
    let isGiven = status.st_uid != user || mount.f_flag & UInt(ST_RDONLY) != 0
    guard status.st_mode & (isGiven ? 0o022 : 0o077) == 0 else {
      throw .accessibleToOthers(path: path, mode: status.st_mode & 0o777)
    }
  }
}
