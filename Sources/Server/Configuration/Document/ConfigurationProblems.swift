/// The errors of a file that is checked completely: parsing continues after each of them.
final class ConfigurationProblems {
  private(set) var errors: [ConfigurationError] = []

  /// Adds an error, unless it is known: some members are parsed twice.
  func add(_ error: ConfigurationError) {
    if !errors.contains(error) { errors.append(error) }
  }

  /// The errors in the order of their lines.
  var sorted: [ConfigurationError] { errors.sorted { $0.line ?? 0 < $1.line ?? 0 } }
}

extension ConfigurationNode {
  /// Throws an error; in a complete check, adds it to the problems instead.
  func report(_ problem: String) throws(ConfigurationError) { try report(error(problem)) }

  private func report(_ error: ConfigurationError) throws(ConfigurationError) {
    guard let problems else { throw error }
    problems.add(error)
  }

  /// Parses a part of the file. In a complete check, the result is `nil` after an error, and parsing continues.
  func part<Value>(
    _ parse: @autoclosure () throws(ConfigurationError) -> Value?
  ) throws(ConfigurationError) -> Value? {
    do throws(ConfigurationError) {
      return try parse()
    } catch {
      try report(error)
      return nil
    }
  }

  /// Parses the values of a list. A complete check leaves out those with errors.
  func values<Value>(
    _ parse: (ConfigurationNode) throws(ConfigurationError) -> Value
  ) throws(ConfigurationError) -> [Value] {
    var values: [Value] = []
    for item in try list() {
      if let value = try part(parse(item)) { values.append(value) }
    }
    return values
  }

  /// The number of errors that a complete check has found so far.
  var problemCount: Int { problems?.errors.count ?? 0 }
}

extension ConfigurationNode.Members {
  /// Parses a part of the mapping, as ``ConfigurationNode/part(_:)`` does.
  func part<Value>(
    _ parse: @autoclosure () throws(ConfigurationError) -> Value?
  ) throws(ConfigurationError) -> Value? {
    try owner.part(parse())
  }

  /// Requires members, so that a complete check reports all that are missing.
  func require(_ names: String...) throws(ConfigurationError) {
    for name in names { _ = try owner.part(required(name)) }
  }
}

extension ServiceConfiguration {
  /// Returns all errors of a file, in the order of their lines, and what it configures apart from them; no configuration
  /// if the file cannot be read or parsed.
  package static func check(
    inFile path: String
  ) -> (configuration: ServiceConfiguration?, problems: [ConfigurationError]) {
    do throws(ConfigurationError) {
      return check(yaml: try ConfigurationFile.text(path), file: path)
    } catch {
      return (nil, [error])
    }
  }

  /// Returns all errors of a configuration that was read from `file`, and what it configures apart from them.
  package static func check(
    yaml: String, file: String
  ) -> (configuration: ServiceConfiguration?, problems: [ConfigurationError]) {
    let problems = ConfigurationProblems()
    do throws(ConfigurationError) {
      let root = try ConfigurationFile.root(yaml: yaml, file: file, problems: problems)
      let configuration = try ServiceConfiguration(root)
      return (configuration, problems.sorted)
    } catch {
      problems.add(error)
      return (nil, problems.sorted)
    }
  }
}

extension ConfigurationError {
  /// The line of the error, if it has one.
  package var line: Int? {
    if case .invalid(_, let line, _) = self { line } else { nil }
  }
}
