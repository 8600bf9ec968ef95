extension JSONValue {
  /// Reads one JSON text: strict RFC 8259, valid UTF-8, no byte order mark.
  package init(
    parsing bytes: [UInt8], limits: JSONLimits = .standard, duplicates: JSONDuplicates = .lastCounts
  ) throws(JSONError) {
    guard bytes.count <= limits.maximumBytes else { throw .tooLarge(limit: limits.maximumBytes) }
    var parser = JSONParser(bytes: bytes, maximumDepth: limits.maximumDepth, duplicates: duplicates)
    self = try parser.parseDocument()
  }

  /// Reads one JSON text from a string.
  package init(
    parsing text: String, limits: JSONLimits = .standard, duplicates: JSONDuplicates = .lastCounts
  ) throws(JSONError) {
    try self.init(parsing: Array(text.utf8), limits: limits, duplicates: duplicates)
  }
}
