internal import Bytes
internal import SignedData

/// The header fields of `traces.headers_file`, such as the token of a collector: one `name: value` a line. Empty lines
/// and lines that begin with `#` are skipped.
///
/// The file is read for each request, so that a token can be replaced without a restart.
package struct ExportHeaders: Sendable {
  private let path: String?

  /// `nil`: no additional fields.
  package init(file path: String?) { self.path = path }

  /// Reads the file.
  ///
  /// - Throws: ``ExportHeadersError``; no case has a part of the file.
  package func fields() throws(ExportHeadersError) -> [(name: String, value: String)] {
    guard let path else { return [] }
    let text: String
    do throws(PrivateKeyFileError) { text = try PrivateKeyFile.readSecret(path) } catch {
      throw ExportHeadersError(description: error.description)
    }
    var fields: [(name: String, value: String)] = []
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    for (index, line) in lines.enumerated() {
      let line = String(line).trimmed
      guard !line.isEmpty, line.first != "#" else { continue }
      guard let colon = line.firstIndex(of: ":"),
        let field = Self.field(
          String(line[..<colon]).trimmed, String(line[line.index(after: colon)...]).trimmed)
      else {
        throw ExportHeadersError(
          description: "line \(index + 1) of '\(path)' is not a header field such as 'name: value'")
      }
      fields.append(field)
    }
    return fields
  }

  /// A field of HTTP (RFC 9110, 5.1 and 5.5); `nil` if it has other characters.
  private static func field(_ name: String, _ value: String) -> (name: String, value: String)? {
    let isName =
      !name.isEmpty
      && name.utf8.allSatisfy { byte in
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
          || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
      }
    guard isName, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    return (name.lowercased(), value)
  }
}

/// The reason why the file of header fields cannot be used.
package struct ExportHeadersError: Error, Hashable, CustomStringConvertible {
  /// Names the file and the line, but never the content, which is secret.
  package let description: String
}
