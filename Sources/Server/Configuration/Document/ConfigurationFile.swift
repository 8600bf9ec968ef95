internal import Foundation
internal import Platform
internal import Yams

/// Reads and parses the files that a person writes in YAML.
enum ConfigurationFile {
  /// Returns the text of a file.
  ///
  /// - Throws: ``ConfigurationError`` with the reason of the operating system, or if the file is not UTF-8.
  static func text(_ path: String) throws(ConfigurationError) -> String {
    let contents: Data
    do { contents = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw .unreadable(file: path, reason: SystemError.text(under: error))
    }
    guard let text = String(bytes: contents, encoding: .utf8) else {
      throw .invalid(file: path, line: nil, problem: "the file is not UTF-8")
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
    return ConfigurationNode(file: file, name: name, node: node, problems: problems)
  }
}

extension Error {
  /// The line of an error of the YAML parser, from 1; `nil` if it has none.
  fileprivate var line: Int? {
    switch self as? YamlError {
    case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _): mark.line
    case .duplicatedKeysInMapping(_, let context): context.mark.line
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
    case .duplicatedKeysInMapping(let keys, _):
      "duplicate keys: \(keys.joined(separator: ", "))"
    default: "\(self)"
    }
  }
}
