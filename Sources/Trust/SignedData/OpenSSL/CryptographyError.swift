internal import COpenSSL

/// A failure to read, create or use a key, certificate or signature.
package enum CryptographyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The bytes are not the expected object, such as `a certificate`. `detail` is OpenSSL's text.
  case unreadable(what: String, detail: String)
  /// OpenSSL failed unexpectedly: out of memory, or a bug in this module.
  case failed(operation: String, detail: String)

  package var description: String {
    switch self {
    case .unreadable(let what, let detail): "not \(what)\(Self.suffix(detail))"
    case .failed(let operation, let detail): "could not \(operation)\(Self.suffix(detail))"
    }
  }

  private static func suffix(_ detail: String) -> String { detail.isEmpty ? "" : ": \(detail)" }
}

/// OpenSSL's error queue of the current thread.
enum ErrorQueue {
  /// Empties the queue and returns its messages, oldest (the cause) first.
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

/// Throws unless `result` is OpenSSL's 1 for success. `operation` names what was attempted.
func check(_ result: CInt, _ operation: String) throws(CryptographyError) {
  guard result == 1 else { throw .failed(operation: operation, detail: ErrorQueue.take()) }
}

/// Returns `pointer`, or throws if it is NULL. `operation` names what was attempted.
func made(_ pointer: OpaquePointer?, _ operation: String) throws(CryptographyError) -> OpaquePointer {
  guard let pointer else { throw .failed(operation: operation, detail: ErrorQueue.take()) }
  return pointer
}
