internal import Foundation

/// The texts of the operating system's errors, such as "No such file or directory".
package enum SystemError {
  /// The text of the last system call of this thread that failed. Read it before anything that may make another one.
  package static var last: String { text(errno) }

  /// The text of an error number.
  package static func text(_ number: CInt) -> String { String(cString: strerror(number)) }

  /// The text of the system's error, also under one of Foundation's; without such an error, the description of `error`.
  package static func text(under error: any Error) -> String {
    let cause = (error as? CocoaError)?.underlying ?? error
    guard let code = (cause as? POSIXError)?.code else { return "\(error)" }
    return text(code.rawValue)
  }
}
