internal import Foundation
internal import Yams

/// One place in the file: a value, with all it takes to say what is wrong with it.
struct ConfigurationNode {
  let file: String
  /// What it is, for people, such as `product pro.monthly`.
  let name: String
  private let node: Node

  init(file: String, name: String, node: Node) {
    self.file = file
    self.name = name
    self.node = node
  }

  /// The same place by another name.
  init(renaming other: ConfigurationNode, _ name: String) {
    self.init(file: other.file, name: name, node: other.node)
  }

  /// The error that this place is wrong.
  func error(_ problem: String) -> ConfigurationError {
    .invalid(file: file, line: node.mark?.line, problem: problem)
  }

  /// The text of a plain value.
  func text() throws(ConfigurationError) -> String {
    guard let text = node.scalar?.string, !text.isEmpty else { throw error("\(name) is not a text") }
    return text
  }

  /// A whole number.
  func number() throws(ConfigurationError) -> Int64 {
    guard let number = Int64(try text()) else { throw error("\(name) is not a whole number") }
    return number
  }

  /// A whole number within bounds.
  func number(in range: ClosedRange<Int64>) throws(ConfigurationError) -> Int64 {
    let number = try number()
    guard range.contains(number) else {
      throw error("\(name) is not between \(range.lowerBound) and \(range.upperBound)")
    }
    return number
  }

  /// Yes or no.
  func flag() throws(ConfigurationError) -> Bool {
    switch try text() {
    case "true": return true
    case "false": return false
    default: throw error("\(name) is neither true nor false")
    }
  }

  /// One of the words of an enumeration.
  func choice<Choice: RawRepresentable<String> & CaseIterable>() throws(ConfigurationError) -> Choice {
    guard let choice = Choice(rawValue: try text()) else {
      throw error("\(name) is not one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }

  /// A path, which is relative to the folder of the configuration.
  func path() throws(ConfigurationError) -> String {
    let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
    return URL(fileURLWithPath: try text(), relativeTo: folder).path
  }

  /// The values of a list.
  func list() throws(ConfigurationError) -> [ConfigurationNode] {
    guard let sequence = node.sequence else { throw error("\(name) is not a list") }
    return sequence.map { ConfigurationNode(file: file, name: name, node: $0) }
  }

  /// The texts of a list.
  func texts() throws(ConfigurationError) -> [String] {
    try list().map { node throws(ConfigurationError) in try node.text() }
  }

  /// Whether it is a list, and not a mapping or a plain value.
  var isList: Bool { node.sequence != nil }

  /// Whether it is a plain value.
  var isScalar: Bool { node.scalar != nil }

  /// The members of a mapping whose names the operator chose, in the file's order.
  func entries() throws(ConfigurationError) -> [(key: String, value: ConfigurationNode)] {
    guard let mapping = node.mapping else { throw error("\(name) is not a mapping") }
    var entries: [(key: String, value: ConfigurationNode)] = []
    for (key, value) in mapping {
      let keyNode = ConfigurationNode(file: file, name: "a name in \(name)", node: key)
      let text = try keyNode.text()
      entries.append((text, ConfigurationNode(file: file, name: text, node: value)))
    }
    return entries
  }

  /// The members of a mapping that may have no other names than `known`.
  func members(_ known: [String]) throws(ConfigurationError) -> Members {
    guard let mapping = node.mapping else { throw error("\(name) is not a mapping") }
    var values: [String: ConfigurationNode] = [:]
    for (key, value) in mapping {
      let keyNode = ConfigurationNode(file: file, name: name, node: key)
      let text = key.scalar?.string ?? ""
      guard known.contains(text) else {
        throw keyNode.error(
          "\(name) has no \(text.debugDescription); known: \(known.joined(separator: ", "))")
      }
      values[text] = ConfigurationNode(file: file, name: "\(text) of \(name)", node: value)
    }
    return Members(owner: self, values: values)
  }

  /// The members of one mapping, by name.
  struct Members {
    fileprivate let owner: ConfigurationNode
    fileprivate let values: [String: ConfigurationNode]

    /// The member if it is there.
    subscript(name: String) -> ConfigurationNode? { values[name] }

    /// The member, which must be there.
    func required(_ name: String) throws(ConfigurationError) -> ConfigurationNode {
      guard let value = values[name] else { throw owner.error("\(owner.name) has no \(name)") }
      return value
    }
  }
}
