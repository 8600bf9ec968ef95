internal import JSON
package import Logging

/// Writes each event as one line of text or as one JSON object.
package struct LineLogHandler: LogHandler {
  /// The format of a line. The raw values are those of the configuration.
  package enum Format: String, Hashable, Sendable, CaseIterable {
    case text, json
  }

  /// The lowest level that is written.
  package var logLevel: Logger.Level
  /// The fields of every line.
  package var metadata: Logger.Metadata = [:]
  /// Returns further fields for each line; they replace those of ``metadata``.
  package var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let format: Format
  private let now: @Sendable () -> String
  private let write: @Sendable (String) -> Void

  /// A handler for the logger `label`.
  ///
  /// - Parameters:
  ///   - label: the name of the logger.
  ///   - format: the format of the lines.
  ///   - level: the lowest level that is written.
  ///   - now: returns the current time in RFC 3339.
  ///   - write: writes a line that ends with a newline. It must not block for long.
  package init(
    label: String, format: Format, level: Logger.Level, now: @escaping @Sendable () -> String,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.label = label
    self.format = format
    self.logLevel = level
    self.now = now
    self.write = write
  }

  /// The metadata of all later lines of this logger; a line's own values win.
  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  /// Writes one line. The event's metadata wins over the provider's, that over the ids of the current trace, and these
  /// over the logger's.
  package func log(event: LogEvent) {
    var all = metadata
    if let trace = TraceContext.current {
      all["trace_id"] = .string(trace.traceID)
      all["request_id"] = .string(trace.requestID)
    }
    if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
    if let given = event.metadata { all.merge(given) { $1 } }
    if let error = event.error { all["error"] = .string("\(error)") }
    let members = all.sorted { $0.key < $1.key }
    switch format {
    case .json: write(json(event, members))
    case .text: write(text(event, members))
    }
  }

  private func json(_ event: LogEvent, _ members: [(key: String, value: Logger.MetadataValue)]) -> String {
    var line: JSONObject = [
      "time": .string(now()), "level": .string(event.level.rawValue), "logger": .string(label),
      "message": .string(Redaction.cleaned("\(event.message)")),
    ]
    for member in members where line[member.key] == nil { line[member.key] = Self.json(member.value) }
    return String(decoding: line.serialized(), as: UTF8.self) + "\n"
  }

  private static func json(_ value: Logger.MetadataValue) -> JSONValue {
    switch value {
    case .string(let text): .string(Redaction.cleaned(text))
    case .stringConvertible(let value): .string(Redaction.cleaned("\(value)"))
    case .array(let values): .array(values.map(json))
    case .dictionary(let members):
      .object(
        members.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { $0[$1.key] = json($1.value) })
    }
  }

  private func text(_ event: LogEvent, _ members: [(key: String, value: Logger.MetadataValue)]) -> String {
    let rest = members.map { " \($0.key)=\(Self.text($0.value))" }.joined()
    let message = LogText.escaped("\(event.message)")
    return Redaction.cleaned("\(now()) \(event.level.rawValue) \(label): \(message)\(rest)") + "\n"
  }

  private static func text(_ value: Logger.MetadataValue, in separators: String = "") -> String {
    switch value {
    case .string(let text): LogText.value(text, in: separators)
    case .stringConvertible(let value): LogText.value("\(value)", in: separators)
    case .array(let values): values.map { text($0, in: ",") }.joined(separator: ",")
    case .dictionary(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value, in: ",}"))" }
        .joined(separator: ",") + "}"
    }
  }
}

/// Removes secrets from log lines: a second line of defense after the rule that messages contain none.
package enum Redaction {
  private static let replacement = "[withheld]"
  /// The prefixes of JWS, of bearer tokens, of base64 receipts and certificates, and of base64 private keys on P-256.
  private static let prefixes = ["eyJ", "ent_", "MII", "MIGHAgEA", "MIGTAgEA"]
  /// Shorter words are not replaced.
  private static let minLength = 24

  /// Returns the text with words replaced that look like a token, a signed document or a receipt.
  package static func cleaned(_ text: String) -> String {
    guard prefixes.contains(where: text.contains) else { return text }
    var result = ""
    var word = ""
    for character in text {
      if isPartOfToken(character) {
        word.append(character)
      } else {
        result += cleaned(word: word)
        result.append(character)
        word = ""
      }
    }
    return result + cleaned(word: word)
  }

  private static func cleaned(word: String) -> String {
    word.utf8.count >= minLength && prefixes.contains(where: word.contains) ? replacement : word
  }

  private static func isPartOfToken(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "+/=-_.".contains(character))
  }
}
