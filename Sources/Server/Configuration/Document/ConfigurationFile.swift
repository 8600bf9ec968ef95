internal import Foundation
internal import Platform

/// Reads the files that a person writes in YAML.
enum ConfigurationFile {
  /// Returns the text of a file.
  ///
  /// - Throws: ``ConfigurationError`` with the reason of the operating system, or if the file is not UTF-8.
  static func text(_ path: String) throws(ConfigurationError) -> String {
    let contents: Data
    do { contents = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw .unreadable(file: path, reason: SystemError.text(under: error))
    }
    guard let text = String(bytes: contents, encoding: .utf8) else {
      throw .invalid(file: path, line: nil, problem: "the file is not UTF-8")
    }
    return text
  }
}
