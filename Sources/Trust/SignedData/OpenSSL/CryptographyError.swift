internal import COpenSSL

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

/// OpenSSL's queue of what went wrong on this thread.
enum ErrorQueue {
  /// Empties the queue and returns its texts, the oldest (the cause) first.
  static func take() -> String {
    var texts: [String] = []
    while true {
      let code = ERR_get_error()
      guard code != 0 else { return texts.joined(separator: "; ") }
      if let text = ERR_reason_error_string(code) { texts.append(String(cString: text)) }
    }
  }
}

extension CryptographyError {
  static func unreadable(_ what: String) -> CryptographyError {
    .unreadable(what: what, detail: ErrorQueue.take())
  }
}

/// Turns OpenSSL's "1 is success" into a throw that says what was attempted.
func check(_ result: CInt, _ operation: String) throws(CryptographyError) {
  guard result == 1 else { throw .failed(operation: operation, detail: ErrorQueue.take()) }
}

/// Turns OpenSSL's "NULL is failure" into a throw that says what was attempted.
func made(_ pointer: OpaquePointer?, _ operation: String) throws(CryptographyError) -> OpaquePointer {
  guard let pointer else { throw .failed(operation: operation, detail: ErrorQueue.take()) }
  return pointer
}
