package import Foundation
internal import Platform

/// Reads files that a command names.
package enum InputFile {
  /// The content of a file.
  ///
  /// - Throws: ``Failure`` with the reason of the operating system.
  package static func contents(_ path: String) throws(Failure) -> Data {
    do {
      return try Data(contentsOf: URL(fileURLWithPath: path))
    } catch {
      throw Failure("cannot read '\(path)': \(SystemError.text(under: error))")
    }
  }
}
