internal import Bytes

/// A block of a PEM text (RFC 7468): a label and bytes.
package struct PEM: Hashable, Sendable {
  /// The type of the content, such as `CERTIFICATE` or `PRIVATE KEY`.
  package let label: String
  /// The content in DER.
  package let bytes: [UInt8]

  package init(label: String, bytes: [UInt8]) {
    self.label = label
    self.bytes = bytes
  }

  /// Decodes the first block in `text`; `nil` if there is none or it is malformed.
  package init?(parsing text: String) {
    var lines = text.split(whereSeparator: \.isNewline)[...].drop { !$0.hasPrefix("-----BEGIN ") }
    guard let opening = lines.popFirst(), opening.hasSuffix("-----"), opening.utf8.count > 16 else {
      return nil
    }
    let label = String(opening.dropFirst(11).dropLast(5))
    guard let end = lines.firstIndex(of: "-----END \(label)-----") else { return nil }
    let digits = lines[..<end].joined().utf8.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    guard let bytes = Base64.standard.decode(digits[...]) else { return nil }
    self.init(label: label, bytes: bytes)
  }

  /// The block as text in lines of 64 characters, with a final newline.
  package var text: String {
    var lines = "-----BEGIN \(label)-----\n"
    var rest = Base64.standard.encodeUTF8(bytes)[...]
    while !rest.isEmpty {
      lines += String(decoding: rest.prefix(64), as: UTF8.self) + "\n"
      rest = rest.dropFirst(64)
    }
    return lines + "-----END \(label)-----\n"
  }
}
