/// A piece of an HTML or SVG document, written as a string literal with interpolations.
///
/// Literals are copied as they are. Interpolated text is escaped, interpolated markup is not. No initializer takes a
/// `String`, because a literal is a `StaticString`: text that arrived at run time cannot become markup.
///
/// Text is escaped for element content and for quoted attribute values, and left out of values without quotes and of
/// URLs, where escaping does not make it harmless: URLs are interpolated as ``Link``. `tools/check-markup` rejects
/// literals with event handlers, styles and inline scripts.
package struct Markup: Hashable, Sendable, ExpressibleByStringInterpolation {
  /// The document as UTF-8.
  package private(set) var bytes: [UInt8] = []

  /// An empty piece.
  package init() {}

  package init(stringLiteral value: StaticString) { append(literal: value) }

  package init(stringInterpolation interpolation: Interpolation) { self = interpolation.markup }

  /// Whether it has no bytes.
  package var isEmpty: Bool { bytes.isEmpty }

  /// Appends `other`.
  package mutating func append(_ other: Markup) { bytes += other.bytes }

  package static func += (left: inout Markup, right: Markup) { left.append(right) }

  package static func + (left: Markup, right: Markup) -> Markup {
    var sum = left
    sum.append(right)
    return sum
  }

  fileprivate mutating func append(literal: StaticString) {
    literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
  }

  /// Whether text at this place would be a URL, or could add an attribute.
  private var endsBeforeUnsafeValue: Bool {
    bytes.last == UInt8(ascii: "=") || Self.startsOfURLs.contains { bytes.suffix($0.count).elementsEqual($0) }
  }

  private static let startsOfURLs = [" href=\"", " src=\"", "action=\"", " href='", " src='", "action='"]
    .map { Array($0.utf8) }

  fileprivate mutating func append(interpolated text: String) {
    if !endsBeforeUnsafeValue { append(text: text) }
  }

  /// Appends text. Control characters, which HTML does not allow, become U+FFFD.
  fileprivate mutating func append(text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "&"): append(literal: "&amp;")
      case UInt8(ascii: "<"): append(literal: "&lt;")
      case UInt8(ascii: ">"): append(literal: "&gt;")
      case UInt8(ascii: "\""): append(literal: "&quot;")
      case UInt8(ascii: "'"): append(literal: "&#39;")
      // Parsers would drop it as part of a line end.
      case UInt8(ascii: "\r"): append(literal: "&#13;")
      case 0x00...0x08, 0x0B...0x1F, 0x7F: append(literal: "\u{FFFD}")
      default: bytes.append(byte)
      }
    }
  }

  /// Collects a literal with interpolations.
  package struct Interpolation: StringInterpolationProtocol {
    fileprivate var markup = Markup()

    package init(literalCapacity: Int, interpolationCount: Int) {
      markup.bytes.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    package mutating func appendLiteral(_ literal: StaticString) { markup.append(literal: literal) }

    /// Appends escaped text. A literal, such as one branch of a condition, is markup, not text.
    @_disfavoredOverload
    package mutating func appendInterpolation(_ text: String) { markup.append(interpolated: text) }

    /// Appends markup as it is.
    package mutating func appendInterpolation(_ piece: Markup) { markup.append(piece) }

    /// Appends pieces one after the other.
    package mutating func appendInterpolation(_ pieces: [Markup]) {
      for piece in pieces { markup.append(piece) }
    }

    /// Appends a number in decimal digits.
    package mutating func appendInterpolation(_ number: some BinaryInteger) {
      markup.append(text: String(number))
    }

    /// Appends a coordinate with at most one decimal.
    package mutating func appendInterpolation(_ coordinate: Double) {
      let tenths = Int((coordinate * 10).rounded())
      let sign = tenths < 0 ? "-" : ""
      let (whole, rest) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
      markup.append(text: rest == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(rest)")
    }

    /// Appends a URL, for a quoted attribute.
    package mutating func appendInterpolation(_ link: Link) { markup.append(text: link.text) }
  }
}

extension Markup: CustomStringConvertible {
  package var description: String { String(decoding: bytes, as: UTF8.self) }
}

extension Sequence<Markup> {
  /// The pieces one after the other, with `separator` between them.
  package func joined(separator: Markup = Markup()) -> Markup {
    var joined = Markup()
    var isFirst = true
    for piece in self {
      if !isFirst { joined.append(separator) }
      joined.append(piece)
      isFirst = false
    }
    return joined
  }
}
