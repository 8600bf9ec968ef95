internal import Entitlements
internal import Foundation
internal import Yams

/// A value in the file, with the file, line and name that errors need.
struct ConfigurationNode {
  /// The path of the file, as errors print it. Relative paths in the file are resolved against its directory.
  let file: String
  /// The name in errors, such as `product pro.monthly`.
  let name: String
  /// The value, as Yams parsed it.
  let node: Node
  /// The errors of a complete check; otherwise `nil`, and the first error ends parsing.
  let problems: ConfigurationProblems?

  init(file: String, name: String, node: Node, problems: ConfigurationProblems? = nil) {
    self.file = file
    self.name = name
    self.node = node
    self.problems = problems
  }

  /// Gives another name to a node.
  init(renaming other: ConfigurationNode, _ name: String) {
    self.init(file: other.file, name: name, node: other.node, problems: other.problems)
  }

  /// The line of the node, from 1.
  var line: Int? { node.mark?.line }

  /// Returns an error with the file and line of this node.
  func error(_ problem: String) -> ConfigurationError {
    .invalid(file: file, line: line, problem: problem)
  }

  /// The text of a scalar; not empty.
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

  /// A Boolean.
  func flag() throws(ConfigurationError) -> Bool {
    switch try text() {
    case "true": return true
    case "false": return false
    default: throw error("\(name) is neither true nor false")
    }
  }

  /// A case of an enumeration, by its raw value.
  func choice<Choice: RawRepresentable<String> & CaseIterable>() throws(ConfigurationError) -> Choice {
    guard let choice = Choice(rawValue: try text()) else {
      throw error("\(name) is not one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }

  /// A case of an enumeration, by its raw value. `kind` is the word for such a value in errors, such as "role".
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    of kind: String
  ) throws(ConfigurationError) -> Choice {
    let text = try text()
    guard let choice = Choice(rawValue: text) else {
      let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw error("unknown \(kind) '\(text)'; known: \(known)")
    }
    return choice
  }

  /// A path; relative paths are resolved against the directory of the configuration. Whether the file exists is not
  /// checked.
  func path() throws(ConfigurationError) -> String {
    let directory = URL(fileURLWithPath: file).deletingLastPathComponent()
    return URL(fileURLWithPath: try text(), relativeTo: directory).path
  }

  /// The values of a list.
  func list() throws(ConfigurationError) -> [ConfigurationNode] {
    guard let sequence = node.sequence else { throw error("\(name) is not a list") }
    return sequence.map { child($0, name) }
  }

  /// The texts of a list.
  func texts() throws(ConfigurationError) -> [String] {
    try list().map { node throws(ConfigurationError) in try node.text() }
  }

  /// Requires that a name of this node consists of characters that have no meaning in addresses, paths and other names
  /// that are made of it.
  func require(name: String) throws(ConfigurationError) {
    guard SegmentFilter.isValid(name: name) else {
      throw error("'\(name)' is not 1 to 64 letters, digits, '-', '_' and '.'")
    }
  }

  /// Whether the value is a list.
  var isList: Bool { node.sequence != nil }

  /// Whether the value is a scalar.
  var isScalar: Bool { node.scalar != nil }

  /// The entries of a mapping with arbitrary keys, in the order of the file.
  func entries() throws(ConfigurationError) -> [(key: String, value: ConfigurationNode)] {
    guard let mapping = node.mapping else { throw error("\(name) is not a mapping") }
    var entries: [(key: String, value: ConfigurationNode)] = []
    for (key, value) in mapping {
      let text = try child(key, "a key of \(name)").text()
      entries.append((text, child(value, text)))
    }
    return entries
  }

  /// The members of a mapping whose keys must be among `known`. An unknown key is an error, so that a misspelled one
  /// does not silently leave a default in force.
  func members(_ known: [String]) throws(ConfigurationError) -> Members {
    guard let mapping = node.mapping else { throw error("\(name) is not a mapping") }
    var values: [String: ConfigurationNode] = [:]
    for (key, value) in mapping {
      let text = key.scalar?.string ?? ""
      if known.contains(text) {
        values[text] = child(value, "\(text) of \(name)")
      } else {
        try child(key, name).report(
          "\(name): unknown key '\(text)'; known: \(known.joined(separator: ", "))")
      }
    }
    return Members(owner: self, values: values)
  }

  private func child(_ node: Node, _ name: String) -> ConfigurationNode {
    ConfigurationNode(file: file, name: name, node: node, problems: problems)
  }

  /// The members of a mapping by key.
  struct Members {
    /// The mapping itself, whose line and name the error of a missing member has.
    let owner: ConfigurationNode
    fileprivate let values: [String: ConfigurationNode]

    /// The member, if it exists.
    subscript(name: String) -> ConfigurationNode? { values[name] }

    /// The member.
    ///
    /// - Throws: ``ConfigurationError`` if the member is missing.
    func required(_ name: String) throws(ConfigurationError) -> ConfigurationNode {
      guard let value = values[name] else { throw owner.error("\(owner.name) has no \(name)") }
      return value
    }
  }
}

/// The reason a configuration is unusable.
package enum ConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file cannot be read; `reason` is the error of the operating system.
  case unreadable(file: String, reason: String)
  /// The content is invalid. Lines count from 1; `nil` if the error has no line.
  case invalid(file: String, line: Int?, problem: String)

  /// The error as a line with `FILE:LINE:`, which editors and terminals recognize.
  package var description: String {
    switch self {
    case .unreadable(let file, let reason): "cannot read '\(file)': \(reason)"
    case .invalid(let file, let line?, let problem): "\(file):\(line): \(problem)"
    case .invalid(let file, nil, let problem): "\(file): \(problem)"
    }
  }
}
