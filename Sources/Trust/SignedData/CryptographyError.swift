/// A key or a certificate could not be read, made or used.
package enum CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes are not what was asked for, such as `a certificate`. `detail` is OpenSSL's text.
  case unreadable(what: String, detail: String)
  /// OpenSSL refused an operation that should have worked: out of memory, or a bug here.
  case failed(operation: String, detail: String)

  package var description: String {
    switch self {
    case .unreadable(let what, let detail): "not \(what)\(Self.suffix(detail))"
    case .failed(let operation, let detail): "could not \(operation)\(Self.suffix(detail))"
    }
  }

  private static func suffix(_ detail: String) -> String { detail.isEmpty ? "" : ": \(detail)" }
}
