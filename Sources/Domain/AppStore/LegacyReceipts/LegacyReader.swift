internal import JSON

/// Reads the JSON of `verifyReceipt` and of version 1 notifications, in which numbers and Booleans are mostly
/// strings and dates come in up to three formats.
struct LegacyReader {
  let json: JSONObject

  /// Returns a string, or a number as its text: Apple sends ids in both forms.
  func text(_ member: String) throws(PayloadError) -> String? {
    switch json[member] {
    case nil, .null?: nil
    case .string(let text)?: text
    case .number(let number)?: number.literal
    case .bool?, .array?, .object?: throw .wrongType(member: member, expected: "a string or a number")
    }
  }

  func integer(_ member: String) throws(PayloadError) -> Int64? {
    guard let text = try text(member), !text.isEmpty else { return nil }
    guard let integer = Int64(text) else { throw .wrongType(member: member, expected: "an integer") }
    return integer
  }

  /// Accepts `true`, `"true"`, `"1"` or 1, and the same for false.
  func bool(_ member: String) throws(PayloadError) -> Bool? {
    if case .bool(let flag)? = json[member] { return flag }
    switch try text(member) {
    case nil, "": return nil
    case "true", "1": return true
    case "false", "0": return false
    case .some: throw .wrongType(member: member, expected: "true or false")
    }
  }

  /// Returns the date in `member_ms` (milliseconds), or in `member` (`2019-10-18 17:43:27 Etc/GMT`, or
  /// milliseconds in the oldest format). `member_pst` is redundant.
  func date(_ member: String) throws(PayloadError) -> Instant? {
    let exact = "\(member)_ms"
    if let milliseconds = try integer(exact) { return try instant(milliseconds, exact) }
    guard let text = try text(member), !text.isEmpty else { return nil }
    if let milliseconds = Int64(text) { return try instant(milliseconds, member) }
    let parts = text.split(separator: " ")
    guard parts.count == 3, parts[2] == "Etc/GMT", let date = Instant(rfc3339: "\(parts[0])T\(parts[1])Z")
    else { throw .wrongType(member: member, expected: "a date in GMT") }
    return date
  }

  /// Accepts `PROD` and `Production`, `Sandbox`; `nil` for any other value.
  func environment(_ member: String) throws(PayloadError) -> Environment? {
    let text = try text(member)
    return text == "PROD" ? .production : text.flatMap(Environment.init)
  }

  func code<Code: OpenCode>(_ member: String) throws(PayloadError) -> Code? where Code.RawValue == String {
    try text(member).map { Code(rawValue: $0) }
  }

  func code<Code: OpenCode>(_ member: String) throws(PayloadError) -> Code? where Code.RawValue == Int64 {
    try integer(member).map { Code(rawValue: $0) }
  }

  func part<Part: DecodedPayload>(_ member: String) throws(PayloadError) -> Part? {
    try json.part(member)
  }

  /// Returns an array of nested objects. A single object counts as an array of one: receipts of single transactions, from
  /// before iOS 7, are answered with one.
  func parts<Part: DecodedPayload>(_ member: String) throws(PayloadError) -> [Part]? {
    if case .object? = json[member] { return try json.part(member).map { [$0] } }
    return try json.parts(member)
  }

  private func instant(_ milliseconds: Int64, _ member: String) throws(PayloadError) -> Instant {
    let instant = Instant(millisecondsSince1970: milliseconds)
    guard Instant.representable.contains(instant) else { throw .dateOutOfRange(member: member) }
    return instant
  }
}
