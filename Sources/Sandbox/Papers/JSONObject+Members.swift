internal import AppStore
internal import JSON

extension JSONObject {
  /// An object of those members that have a value. `null` is none: Apple leaves such members out.
  init(present members: [(String, JSONValue?)]) {
    self.init(members.compactMap { name, value in value.flatMap { $0.isNull ? nil : (name, $0) } })
  }
}

extension JSONValue {
  /// A date as Apple writes it: milliseconds since 1970.
  init(_ date: Instant) { self = .number(JSONNumber(date.millisecondsSince1970)) }

  init(_ number: Int64) { self = .number(JSONNumber(number)) }
}

/// Apple's stable name for one account's copy of one app: always the same number for the same two.
func appTransactionID(app: String, account: String) -> String {
  // FNV-1a, 64 bits: even over any names, and the same on every machine.
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in "\(app)\u{0}\(account)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  return String(700_000_000_000_000_000 + hash % 10_000_000_000_000_000)
}
