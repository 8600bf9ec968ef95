internal import Bytes
internal import JSON

/// Finds the lines of an input that name a person: in a value, as a whole word, or in a signed document. It finds
/// rather too much than too little, because an erased line only costs its migration.
struct PersonSearch {
  /// Of documents inside documents.
  private static let maxDepth = 4
  /// Of a customer id.
  private static let maxIDBytes = 256

  private let ids: [[UInt8]]
  /// In lower case.
  private let tokens: [[UInt8]]
  /// `nil`: the ids of all persons are known.
  private let isErased: (@Sendable (String) -> Bool)?

  /// - Parameters:
  ///   - ids: customer ids, as they are.
  ///   - tokens: `appAccountToken`s in lower case; documents may have them in capitals.
  ///   - isErased: whether a value is an id of an erased person, whose hash alone is stored.
  init(
    ids: some Sequence<String>, tokens: some Sequence<String>, isErased: (@Sendable (String) -> Bool)? = nil
  ) {
    self.isErased = isErased
    self.ids = ids.filter { !$0.isEmpty }.map { Array($0.utf8) }
    self.tokens = tokens.map { Array($0.utf8) }
  }

  /// Whether a line names the person. `separator` is that of CSV columns.
  func finds(in line: ArraySlice<UInt8>, _ syntax: InputFormat.Syntax, separator: UInt8) -> Bool {
    switch syntax {
    case .ndjson:
      // The names of members are not about a person, and values may have escapes.
      let limits = JSONLimits(maximumValues: InputReader.maxValues)
      do throws(JSONError) {
        return finds(in: try JSONValue(parsing: Array(line), limits: limits), depth: 0)
      } catch {
        // No job can use such a line, so it is not searched.
        if case .tooManyValues = error { return true }
      }
    case .csv:
      if columnsAreErased(in: line, separator: separator) { return true }
      // A quote within quotes is written twice (RFC 4180).
      let quote = UInt8(ascii: "\"")
      guard ids.contains(where: { $0.contains(quote) }) else { break }
      let text = String(decoding: line, as: UTF8.self).replacing("\"\"", with: "\"")
      return finds(inText: Array(text.utf8)[...], depth: 0)
    }
    return finds(inText: line, depth: 0)
  }

  private func finds(in value: JSONValue, depth: Int) -> Bool {
    switch value {
    case .string(let text): isErasedID(text) || finds(inText: Array(text.utf8)[...], depth: depth)
    case .number(let number):
      isErasedID(number.literal) || finds(inText: Array(number.literal.utf8)[...], depth: depth)
    case .array(let values): values.contains { finds(in: $0, depth: depth) }
    case .object(let members): members.contains { finds(in: $0.value, depth: depth) }
    case .null, .bool: false
    }
  }

  /// Whether the value is the id of an erased person; only a hash of the id is stored.
  private func isErasedID(_ value: String) -> Bool {
    guard let isErased, value.utf8.count <= Self.maxIDBytes else { return false }
    return isErased(value)
  }

  private func columnsAreErased(in line: ArraySlice<UInt8>, separator: UInt8) -> Bool {
    guard isErased != nil else { return false }
    var reader = CSVReader(line, separator: separator)
    while let column = reader.nextField() {
      if isErasedID(String(decoding: column.value, as: UTF8.self)) { return true }
    }
    return false
  }

  private func finds(inText text: ArraySlice<UInt8>, depth: Int) -> Bool {
    if ids.contains(where: { text.containsWord($0) }) { return true }
    if !tokens.isEmpty {
      let text = text.map(\.lowercased)[...]
      if tokens.contains(where: { text.containsWord($0) }) { return true }
    }
    return depth < Self.maxDepth && payloads(in: text).contains { finds(in: $0, depth: depth + 1) }
  }

  /// The payloads of the signed documents in a text.
  private func payloads(in text: ArraySlice<UInt8>) -> [JSONValue] {
    text.split { !$0.isBase64URL && $0 != UInt8(ascii: ".") }.compactMap { word in
      guard word.starts(with: "eyJ".utf8) else { return nil }
      let segments = word.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard segments.count == 3 else { return nil }
      return Base64.url.decode(segments[1]).flatMap { try? JSONValue(parsing: $0) }
    }
  }
}

extension ArraySlice<UInt8> {
  /// Whether it contains a word with no part of another word beside it, as `ana@example.com` has in
  /// `ana@example.com.au`, and the number 1 by chance in base64.
  fileprivate func containsWord(_ word: [UInt8]) -> Bool {
    var rest = self
    while let found = rest.firstRange(of: word) {
      let before = self[..<found.lowerBound].last { !$0.isConnector }
      let after = self[found.upperBound...].first { !$0.isConnector }
      if before?.isPartOfWord != true, after?.isPartOfWord != true { return true }
      rest = self[(found.lowerBound + 1)...]
    }
    return false
  }
}

extension UInt8 {
  /// In ASCII.
  fileprivate var lowercased: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }

  private var isAlphanumeric: Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
  }

  fileprivate var isBase64URL: Bool {
    isAlphanumeric || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
  }

  /// Letters and digits, also those outside ASCII.
  var isPartOfWord: Bool { isAlphanumeric || self >= 0x80 }

  /// Whether it connects parts of ids, addresses, numbers and base64.
  fileprivate var isConnector: Bool { "+/=-_.:@".utf8.contains(self) }
}
