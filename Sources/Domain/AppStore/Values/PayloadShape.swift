package import JSON

/// The members of a JSON object that Apple documents, with their types: checks a payload whose members nothing reads.
/// All members are optional, and members without a type pass.
package struct PayloadShape: ExpressibleByDictionaryLiteral, Sendable {
  /// The type of a member.
  package enum Member: Sendable {
    case string, integer, bool, strings
    case object(PayloadShape)
    case objects(PayloadShape)
  }

  private let members: [(name: String, type: Member)]

  package init(dictionaryLiteral elements: (String, Member)...) { members = elements }

  /// The names of the members.
  package var names: [String] { members.map(\.name) }

  /// Checks the members of `json`, each with the type that Apple documents.
  ///
  /// - Throws: ``PayloadError`` for a member of another type, such as a price that is text.
  package func check(_ json: JSONObject) throws(PayloadError) {
    for (name, type) in members {
      switch type {
      case .string: _ = try json.string(name)
      case .integer: _ = try json.integer(name)
      case .bool: _ = try json.bool(name)
      case .strings: _ = try json.strings(name)
      case .object(let shape):
        _ = try json.part(name) { part throws(PayloadError) in try shape.check(part) }
      case .objects(let shape):
        _ = try json.parts(name) { part throws(PayloadError) in try shape.check(part) }
      }
    }
  }
}
