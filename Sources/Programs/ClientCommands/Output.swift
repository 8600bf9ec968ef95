internal import ArgumentParser
package import JSON
internal import Wire

/// The option of commands that call no server.
package struct JSONOption: ParsableArguments {
  @Flag(help: "JSON output.") package var json = false

  package init() {}

  /// Prints a result: with `--json` as an object, otherwise one line for each member.
  package func show(_ result: JSONObject) {
    guard !json else { return print(String(decoding: result.serialized(pretty: true), as: UTF8.self)) }
    print(Table.aligned(result.map { ($0.name.words, $0.value.text) }))
  }
}

/// Formats names and values in two columns.
package enum Table {
  /// Returns one line for each row that has a value. The values begin in the same column.
  package static func aligned(_ rows: [(String, String)]) -> String {
    let shown = rows.filter { !$0.1.isEmpty }
    let width = shown.map(\.0.count).max() ?? 0
    return shown.map { name, value in
      name + String(repeating: " ", count: width - name.count + 2) + value
    }.joined(separator: "\n")
  }
}

extension String {
  /// `evidenceWithoutBody` as `evidence without body`.
  fileprivate var words: String {
    reduce(into: "") { text, character in
      text += character.isUppercase ? " \(character.lowercased())" : String(character)
    }
  }
}

extension JSONValue {
  /// A text without quotes; other values as JSON.
  fileprivate var text: String { stringValue ?? String(decoding: serialized(), as: UTF8.self) }
}

extension Money {
  /// The amount with its currency, such as `4.99 USD`.
  var text: String { "\(Double(milliunits) / 1_000) \(currency)" }
}
