/// Writes values into lines of text. Ids and names come from strangers, so no value can look like a line, like another
/// member, or like a command of the terminal that shows it.
enum LogText {
  /// The value as it is, or in quotes if it is empty or has a space, a quote, a character of `separators`, or one that
  /// is not visible.
  static func value(_ text: String, in separators: String) -> String {
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
      isVisible(scalar) && scalar != "\"" && !separators.unicodeScalars.contains(scalar)
    }
    guard !isPlain || text.isEmpty else { return text }
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      append(scalar, to: &quoted)
    }
    return quoted + "\""
  }

  /// The text with escapes for line breaks and other characters that are not visible.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars { append(scalar, to: &result) }
    return result
  }

  private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    case _ where scalar == " " || isVisible(scalar): text.unicodeScalars.append(scalar)
    default: text += "\\u{\(String(scalar.value, radix: 16))}"
    }
  }

  /// Whether a character shows as itself: no control, no space, and none that changes the direction or order of others.
  private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
    guard !scalar.isASCII else { return scalar.value > 0x20 && scalar.value < 0x7f }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .surrogate, .privateUse,
      .unassigned:
      return false
    default: return true
    }
  }
}
