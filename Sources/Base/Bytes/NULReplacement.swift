extension String {
  /// The text with U+FFFD for each NUL, which PostgreSQL does not store and which ends the strings of C.
  package func replacingNUL() -> String {
    guard utf8.contains(0) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
  }
}
