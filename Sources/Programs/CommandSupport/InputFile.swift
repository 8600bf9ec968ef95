package import Foundation

/// Reads files that a command names.
package enum InputFile {
  /// The content of a file.
  ///
  /// - Throws: ``Failure`` with the reason of the operating system.
  package static func contents(_ path: String) throws(Failure) -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw Failure("cannot read '\(path)': \(reason(of: error))")
    }
  }

  private static func reason(of error: any Error) -> String {
    guard let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code else { return "\(error)" }
    return String(cString: strerror(code.rawValue))
  }
}
