package import JSON
internal import Markup

/// The result of one vector.
package struct VectorResult: Hashable, Sendable {
  /// Whether the backend gave the correct answer.
  package enum Result: Hashable, Sendable {
    /// The answer is correct, or the backend does not state what differs.
    case passed
    /// The correct answer and the backend's, as texts.
    case failed(expected: String, got: String)
    /// The backend does not support the kind of document.
    case skipped
  }

  /// The group of the vector; of a life, the order of its documents.
  package let group: String
  /// The name of the vector.
  package let name: String
  /// The weight of a failure.
  package let level: VectorLevel
  /// The property that the vector is about.
  package let note: String
  /// The comparison with the correct answer.
  package let result: Result
}

/// The results of all vectors, in the order in which they were played.
package struct ConformanceReport: Sendable {
  /// In the order in which they were played.
  package private(set) var results: [VectorResult] = []

  /// A report before the first vector.
  init() {}

  /// Adds the result of the next vector.
  mutating func add(_ result: VectorResult) { results.append(result) }

  /// Whether no vector failed; `strict` counts the recommended ones too.
  package func conforms(strict: Bool) -> Bool {
    !results.contains { $0.isFailure && (strict || $0.level == .required) }
  }

  /// The numbers of one group.
  package struct Count: Hashable, Sendable {
    /// The name of the group.
    package let group: String
    /// Correct answers.
    package internal(set) var passed = 0
    /// Wrong answers of required vectors.
    package internal(set) var failed = 0
    /// Failed vectors that are only recommended.
    package internal(set) var warnings = 0
    /// Documents of kinds that the backend does not support.
    package internal(set) var skipped = 0
  }

  /// The numbers of each group, in order. The results of a group must follow each other.
  package var counts: [Count] {
    var counts: [Count] = []
    for result in results {
      if counts.last?.group != result.group { counts.append(Count(group: result.group)) }
      counts[counts.count - 1].add(result)
    }
    return counts
  }

  /// The report for programs.
  package func json(strict: Bool) -> JSONObject {
    let groups = counts.map { count -> JSONValue in
      .object([
        "group": .string(count.group), "passed": JSONValue(Int64(count.passed)),
        "failed": JSONValue(Int64(count.failed)), "warnings": JSONValue(Int64(count.warnings)),
        "skipped": JSONValue(Int64(count.skipped)),
      ])
    }
    let failures = results.compactMap { result -> JSONValue? in
      guard case .failed(let expected, let got) = result.result else { return nil }
      return .object([
        "group": .string(result.group), "name": .string(result.name), "level": .string(result.level.rawValue),
        "note": .string(result.note), "expected": .string(expected), "got": .string(got),
      ])
    }
    return [
      "conforms": .bool(conforms(strict: strict)), "groups": .array(groups), "failures": .array(failures),
    ]
  }

  /// The report for people: a table of the groups, and each failure.
  package var text: String {
    let head = ["group", "passed", "failed", "warnings", "skipped"]
    let rows = counts.map { [$0.group, "\($0.passed)", "\($0.failed)", "\($0.warnings)", "\($0.skipped)"] }
    let lines = TextTable.lines([head] + rows)
    return (lines + results.compactMap(\.failureText)).joined(separator: "\n")
  }

  /// The report as JUnit's XML, as CI systems read it, in UTF-8. Warnings are failures only with `strict`; otherwise
  /// they are passed tests with a text.
  package func junit(strict: Bool) -> [UInt8] {
    let failures = results.count { $0.isFailure && (strict || $0.level == .required) }
    var document: Markup = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="entitled conformance" tests="\(String(results.count))" failures="\(String(failures))">

      """
    for count in counts {
      let cases = results.filter { $0.group == count.group }
      let failed = count.failed + (strict ? count.warnings : 0)
      document += """
        <testsuite name="\(count.group)" tests="\(String(cases.count))" failures="\(String(failed))" \
        errors="0" skipped="\(String(count.skipped))">

        """
      for result in cases { document += result.junit(strict: strict) }
      document += "</testsuite>\n"
    }
    document += "</testsuites>\n"
    return document.bytes
  }
}

extension ConformanceReport.Count {
  fileprivate mutating func add(_ result: VectorResult) {
    switch (result.result, result.level) {
    case (.passed, _): passed += 1
    case (.skipped, _): skipped += 1
    case (.failed, .required): failed += 1
    case (.failed, .recommended): warnings += 1
    }
  }
}

extension VectorResult {
  fileprivate var isFailure: Bool { if case .failed = result { true } else { false } }

  fileprivate var failureText: String? {
    guard case .failed(let expected, let got) = result else { return nil }
    return """

      \(level == .required ? "FAILED" : "WARNING")  \(group)/\(name)
        \(note)
        expected  \(expected)
        got       \(got)
      """
  }

  fileprivate func junit(strict: Bool) -> Markup {
    switch result {
    case .passed: return "<testcase classname=\"\(group)\" name=\"\(name)\"/>\n"
    case .failed(let expected, let got) where strict || level == .required:
      return """
        <testcase classname="\(group)" name="\(name)"><failure message="expected \(expected), got \(got)">\(note)\
        </failure></testcase>

        """
    case .failed(let expected, let got):
      return """
        <testcase classname="\(group)" name="\(name)"><system-out>recommended: expected \(expected), got \(got)\
        </system-out></testcase>

        """
    case .skipped: return "<testcase classname=\"\(group)\" name=\"\(name)\"><skipped/></testcase>\n"
    }
  }
}

/// A table of a report for a terminal.
enum TextTable {
  /// Returns the lines of rows with equally many cells: the first column is aligned to the left, the others to the right.
  static func lines(_ rows: [[String]]) -> [String] {
    let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - row[column].count)
        return column == 0 ? row[column] + padding : padding + row[column]
      }.joined(separator: "  ")
    }
  }
}
