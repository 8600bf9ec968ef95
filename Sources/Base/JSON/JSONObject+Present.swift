extension JSONObject {
  /// An object of those members that have a value. `null` is none: Apple leaves such members out.
  package init(present members: [(String, JSONValue?)]) {
    self.init(members.compactMap { name, value in value.flatMap { $0.isNull ? nil : (name, $0) } })
  }
}

extension JSONValue {
  /// A whole number.
  package init(_ number: Int64) { self = .number(JSONNumber(number)) }
}
