internal import Glibc

/// Reads private keys and secrets from files that only their owner may access, or that root owns and the
/// service's group may read, as Kubernetes and systemd provide secrets to unprivileged services.
package enum PrivateKeyFile {
  /// More than any key needs; bounds memory for a wrong path.
  private static let sizeLimit = 65_536
  /// The instruction for an operator whose file has no key that can sign.
  package static let remedy = "use the file as it was downloaded, or a key on P-256 in PEM"

  /// Reads a key.
  ///
  /// - Throws: ``PrivateKeyFileError``; no case contains any part of the file.
  package static func read(_ path: String) throws(PrivateKeyFileError) -> SigningKey {
    try readWithDate(path).key
  }

  /// Reads a secret: the file's text without trailing line breaks.
  ///
  /// - Throws: ``PrivateKeyFileError``; no case contains any part of the file.
  package static func readSecret(_ path: String) throws(PrivateKeyFileError) -> String {
    let text = try readText(path).text
    return String(text.reversed().drop { $0.isNewline }.reversed())
  }

  /// Returns the key and the file's modification time in nanoseconds since 1970.
  static func readWithDate(_ path: String) throws(PrivateKeyFileError) -> (key: SigningKey, changed: Int64) {
    let (text, changed) = try readText(path)
    do {
      return (try SigningKey(pem: text), changed)
    } catch {
      throw .notAKey(path: path, reason: "\(error.description); \(remedy)")
    }
  }

  /// Returns the text of a key file and when it changed, in nanoseconds since 1970.
  ///
  /// - Throws: ``PrivateKeyFileError`` also if others than its owner may read it.
  private static func readText(_ path: String) throws(PrivateKeyFileError) -> (text: String, changed: Int64) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw .systemError(path) }
    defer { close(file) }
    // Checks the open file and not the path, which may be replaced meanwhile.
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .systemError(path) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable(path: path, reason: "not a regular file")
    }
    let isOwnedByRoot = status.st_uid == 0 && geteuid() != 0
    guard status.st_mode & (isOwnedByRoot ? 0o037 : 0o077) == 0 else {
      throw .accessibleToOthers(path: path, mode: status.st_mode & 0o777)
    }
    let text = String(decoding: try content(of: file, path), as: UTF8.self)
    return (text, Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec))
  }

  private static func content(of file: CInt, _ path: String) throws(PrivateKeyFileError) -> [UInt8] {
    var content = [UInt8](repeating: 0, count: sizeLimit + 1)
    var used = 0
    while used < content.count {
      let count = content.withUnsafeMutableBytes { buffer in
        Glibc.read(file, buffer.baseAddress?.advanced(by: used), buffer.count - used)
      }
      guard count >= 0 else { throw .systemError(path) }
      if count == 0 { return Array(content[..<used]) }
      used += count
    }
    throw .notAKey(path: path, reason: "it has more than \(sizeLimit) bytes")
  }

  /// The paths of the keys in a directory: the files that end in `.pem` or `.p8`, in the order of their
  /// names. Others, such as those an editor leaves, are not looked at.
  static func list(_ directory: String) throws(PrivateKeyFileError) -> [String] {
    guard let stream = opendir(directory) else { throw .systemError(directory) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix("."), name.hasSuffix(".pem") || name.hasSuffix(".p8") { names.append(name) }
    }
    return names.sorted().map { "\(directory)/\($0)" }
  }
}

/// The reason a private key cannot be used.
package enum PrivateKeyFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file or directory cannot be read; `reason` is the operating system's.
  case unreadable(path: String, reason: String)
  /// The file's mode permits access by others than the owner.
  case accessibleToOthers(path: String, mode: UInt32)
  /// The file contains no usable private key.
  case notAKey(path: String, reason: String)
  /// The directory contains no key.
  case noKeys(directory: String)

  package var description: String {
    switch self {
    case .unreadable(let path, let reason):
      "cannot read \(path): \(reason); correct the path, or let the service read it"
    case .accessibleToOthers(let path, let mode):
      "the file \(path) has mode 0\(String(mode, radix: 8)), which permits access by others; run chmod 600"
    case .notAKey(let path, let reason): "the file \(path) cannot be used: \(reason)"
    case .noKeys(let directory):
      "no key in \(directory): no file ends in .pem or .p8; create one there with '\(Self.creation)'"
    }
  }

  /// The command that creates a key for tokens.
  static let creation = "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out 1.pem"
}

extension PrivateKeyFileError {
  /// The error of the last system call, which was about `path`.
  static func systemError(_ path: String) -> PrivateKeyFileError {
    .unreadable(path: path, reason: String(cString: strerror(errno)))
  }
}
