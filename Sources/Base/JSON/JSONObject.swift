/// The members of a JSON object in source order, with unique names.
///
/// Lookup is a linear search: objects have tens of members, for which hashing the names would cost more.
package struct JSONObject: Hashable, Sendable {
  private var members: [Member]

  private struct Member: Hashable, Sendable {
    var name: String
    var value: JSONValue
  }

  /// An object without members.
  package init() { members = [] }

  /// An object with `members` in that order. Of two members with one name the later value wins.
  package init(_ members: [(String, JSONValue)]) {
    self.init()
    self.members.reserveCapacity(members.count)
    var names = JSONNames()
    for (name, value) in members {
      if let known = names.position(of: name, in: self) {
        replaceValue(at: known, with: value)
      } else {
        appendUnchecked(name: name, value: value)
      }
    }
  }

  /// Appends a member whose name must be new.
  mutating func appendUnchecked(name: String, value: JSONValue) {
    members.append(Member(name: name, value: value))
  }

  /// Replaces the value of the member at `position`.
  mutating func replaceValue(at position: Int, with value: JSONValue) { members[position].value = value }

  mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

  /// Returns the position of the member `name`; names are equal if their bytes are.
  func index(of name: String) -> Int? {
    // Not `==`, which compares by Unicode canonical equivalence.
    let found = name.utf8.withContiguousStorageIfAvailable { wanted in
      members.firstIndex { member in
        member.name.utf8.count == wanted.count
          && member.name.utf8.withContiguousStorageIfAvailable { $0.elementsEqual(wanted) } == true
      }
    }
    return if let found { found } else { members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) } }
  }

  /// The number of members.
  package var count: Int { members.count }

  /// Whether there are no members.
  package var isEmpty: Bool { members.isEmpty }

  /// The value of the member `name`. Setting replaces it in place or appends it; setting `nil` removes it.
  package subscript(name: String) -> JSONValue? {
    get { index(of: name).map { members[$0].value } }
    set {
      switch (index(of: name), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(name: name, value: value))
      case (nil, nil): break
      }
    }
  }
}

extension JSONObject: Sequence {
  /// The members in order.
  package func makeIterator() -> some IteratorProtocol<(name: String, value: JSONValue)> {
    members.lazy.map { (name: $0.name, value: $0.value) }.makeIterator()
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// An object in literal order.
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(elements) }
}

extension JSONObject {
  /// An object of the members that have a value other than `null`, because Apple omits such members.
  package init(present members: [(String, JSONValue?)]) {
    self.init(members.compactMap { name, value in value.flatMap { $0.isNull ? nil : (name, $0) } })
  }
}

extension JSONValue {
  /// An integer.
  package init(_ number: Int64) { self = .number(JSONNumber(number)) }
}
