extension JSONValue {
  /// The value as a JSON text in UTF-8; `pretty` indents by two spaces, a line per member.
  package func serialized(pretty: Bool = false) -> [UInt8] {
    var writer = JSONWriter(pretty: pretty)
    writer.write(self)
    return writer.bytes
  }

  /// The value as a compact JSON text.
  package var text: String { String(decoding: serialized(), as: UTF8.self) }

  /// The value as JSON for people: indented, but compact if it is nested deeper than documents of Apple's are. Strangers
  /// write documents too, and deep in arrays an indented line is many times as long as its element.
  package var displayText: String {
    String(decoding: serialized(pretty: isAtMost(Self.maxIndentedDepth)), as: UTF8.self)
  }

  private static let maxIndentedDepth = 8

  /// Whether arrays and objects are nested in at most `depth` levels.
  private func isAtMost(_ depth: Int) -> Bool {
    switch self {
    case .null, .bool, .number, .string: true
    case .array(let elements): depth > 0 && elements.allSatisfy { $0.isAtMost(depth - 1) }
    case .object(let members): depth > 0 && members.allSatisfy { $0.value.isAtMost(depth - 1) }
    }
  }
}

extension JSONObject {
  /// The object as a JSON text in UTF-8; `pretty` indents by two spaces, a line per member.
  package func serialized(pretty: Bool = false) -> [UInt8] {
    JSONValue.object(self).serialized(pretty: pretty)
  }

  /// The object as a compact JSON text.
  package var text: String { JSONValue.object(self).text }

  /// The object as JSON for people (``JSONValue/displayText``).
  package var displayText: String { JSONValue.object(self).displayText }
}

/// Appends values to `bytes`.
private struct JSONWriter {
  let pretty: Bool
  private(set) var bytes: [UInt8] = []
  private var depth = 0

  init(pretty: Bool) { self.pretty = pretty }

  /// Appends a value. A number keeps its literal, so digits beyond 2^53 are not lost.
  mutating func write(_ value: JSONValue) {
    switch value {
    case .null: append("null")
    case .bool(let flag): append(flag ? "true" : "false")
    case .number(let number): append(number.literal)
    case .string(let text): write(text)
    case .array(let elements): write(elements)
    case .object(let members): write(members)
    }
  }

  private mutating func write(_ elements: [JSONValue]) {
    guard !elements.isEmpty else { return append("[]") }
    bytes.append(UInt8(ascii: "["))
    depth += 1
    for (index, element) in elements.enumerated() {
      startItem(isFirst: index == 0)
      write(element)
    }
    depth -= 1
    startLine()
    bytes.append(UInt8(ascii: "]"))
  }

  private mutating func write(_ members: JSONObject) {
    guard !members.isEmpty else { return append("{}") }
    bytes.append(UInt8(ascii: "{"))
    depth += 1
    for (index, member) in members.enumerated() {
      startItem(isFirst: index == 0)
      write(member.name)
      append(pretty ? ": " : ":")
      write(member.value)
    }
    depth -= 1
    startLine()
    bytes.append(UInt8(ascii: "}"))
  }

  /// Appends a string, escaped only where RFC 8259, section 7, requires it: other characters stay UTF-8.
  private mutating func write(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    if Self.needsEscape(text) {
      for byte in text.utf8 { writeEscaped(byte) }
    } else {
      append(text)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ text: String) -> Bool {
    // Without an early exit, so that the loop is vectorized: signed documents are long and need no escapes.
    text.utf8.withContiguousStorageIfAvailable { bytes in
      bytes.reduce(0) { found, byte in found | (needsEscape(byte) ? 1 : 0) } != 0 as UInt8
    } ?? text.utf8.contains(where: needsEscape)
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func writeEscaped(_ byte: UInt8) {
    guard Self.needsEscape(byte) else { return bytes.append(byte) }
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case 0x08: append("\\b")
    case 0x09: append("\\t")
    case 0x0A: append("\\n")
    case 0x0C: append("\\f")
    case 0x0D: append("\\r")
    default: append((byte < 0x10 ? "\\u000" : "\\u00") + String(byte, radix: 16))
    }
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

  private mutating func startItem(isFirst: Bool) {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    startLine()
  }

  /// Begins a line at the current depth; nothing in the compact form.
  private mutating func startLine() {
    guard pretty else { return }
    bytes.append(0x0A)
    bytes.append(contentsOf: repeatElement(0x20, count: 2 * depth))
  }
}
