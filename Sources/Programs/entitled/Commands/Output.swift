internal import ArgumentParser
internal import Foundation
internal import JSON
internal import Wire

/// The option of commands that call no server.
struct JSONOption: ParsableArguments {
  @Flag(help: "JSON output.") var json = false

  /// Prints a result: with `--json` as an object, otherwise one line for each member.
  func show(_ result: JSONObject) {
    guard !json else { return print(String(decoding: result.serialized(pretty: true), as: UTF8.self)) }
    print(Table.aligned(result.map { ($0.name.words, $0.value.text) }))
  }
}

/// Formats names and values in two columns.
enum Table {
  /// Returns one line for each row that has a value.
  static func aligned(_ rows: [(String, String)]) -> String {
    let shown = rows.filter { !$0.1.isEmpty }
    let width = shown.map(\.0.count).max() ?? 0
    return shown.map { name, value in
      name + String(repeating: " ", count: width - name.count + 2) + value
    }.joined(separator: "\n")
  }
}

/// Shows the progress of long work on the standard error: one line that is rewritten on a terminal, otherwise a new
/// line every five seconds. Short work shows nothing.
final class ProgressLine {
  private static let terminalInterval = Duration.milliseconds(250)
  private static let plainInterval = Duration.seconds(5)

  /// Whether the standard error is a terminal.
  let isTerminal = isatty(STDERR_FILENO) == 1
  private var next: ContinuousClock.Instant
  private var isShown = false

  init() { next = .now + (isTerminal ? Self.terminalInterval : Self.plainInterval) }

  /// Shows `text` if it is time for it.
  func update(_ text: @autoclosure () -> String) {
    guard ContinuousClock.now >= next else { return }
    next = .now + (isTerminal ? Self.terminalInterval : Self.plainInterval)
    isShown = true
    write(isTerminal ? "\r\(text())\u{1B}[K" : "\(text())\n")
  }

  /// Removes the line from a terminal, so that the result replaces it.
  func finish() {
    if isTerminal, isShown { write("\r\u{1B}[K") }
  }

  private func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}

/// A bar for work of known length.
enum ProgressBar {
  private static let width = 30

  /// A bar and the percentage of `done`, which is from 0 to 1.
  static func text(_ done: Double) -> String {
    let done = min(1, max(0, done))
    let filled = Int(done * Double(width))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
    return "[\(bar)] \(Int(done * 100)) %"
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
