internal import Foundation
internal import Platform
internal import Yams

/// Reads and parses the files that a person writes in YAML.
enum ConfigurationFile {
  /// Returns the text of a file.
  ///
  /// - Throws: ``ConfigurationError`` with the reason of the operating system, or if the file is not UTF-8.
  static func text(_ path: String) throws(ConfigurationError) -> String {
    // A pipe can be read only once, but a reload and the lines of references need the file again.
    if let file = FileIdentity(path: path), file.isSpecial {
      throw .unreadable(file: path, reason: "it is not a regular file")
    }
    let contents: Data
    do { contents = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw .unreadable(file: path, reason: SystemError.text(under: error))
    }
    guard let text = String(validating: contents, as: UTF8.self) else {
      let lines = contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let line = lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }
      throw .invalid(file: path, line: line.map { $0 + 1 }, problem: "the line is not UTF-8")
    }
    return text
  }

  /// Parses a text that was read from `file` and returns its root node. Errors call the document `name`.
  static func root(
    yaml: String, file: String, name: String = "the configuration", problems: ConfigurationProblems? = nil
  ) throws(ConfigurationError) -> ConfigurationNode {
    let node: Node?
    do { node = try compose(yaml: yaml) } catch {
      throw .invalid(file: file, line: error.line, problem: error.problem)
    }
    guard let node else { throw .invalid(file: file, line: nil, problem: "\(name) is empty") }
    try AliasExpansion.require(of: node, file: file, size: yaml.utf8.count)
    return ConfigurationNode(file: file, name: name, node: node, problems: problems)
  }
}

extension Error {
  /// The line of an error of the YAML parser, from 1; `nil` if it has none.
  fileprivate var line: Int? {
    switch self as? YamlError {
    case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
    case .duplicatedKeysInMapping(_, let context): context.mark.line
    case .reader(_, let offset?, _, let yaml): 1 + yaml.prefix(offset).count(where: \.isNewline)
    default: nil
    }
  }

  /// The problem that the YAML parser found, without the place of it.
  fileprivate var problem: String {
    switch self as? YamlError {
    case .scanner(_, let problem, _, _) where problem.hasSuffix("cannot start any token"):
      "\(problem), such as a tab; YAML indents with spaces"
    case .scanner(_, let problem, _, _), .parser(_, let problem, _, _), .composer(_, let problem, _, _):
      problem
    case .reader(let problem, _, let character, _):
      "\(problem): U+" + String(format: "%04X", character)
    case .duplicatedKeysInMapping(let keys, _):
      "duplicate keys: \(keys.joined(separator: ", "))"
    default: "\(self)"
    }
  }
}
