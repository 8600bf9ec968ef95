internal import JSON
package import Logging

/// Writes each event as one line: for people, or as a JSON object for whatever collects logs.
package struct LineLogHandler: LogHandler {
  package enum Format: String, Hashable, Sendable, CaseIterable {
    case text, json
  }

  package var logLevel: Logger.Level
  package var metadata: Logger.Metadata = [:]
  package var metadataProvider: Logger.MetadataProvider?

  private let label: String
  private let format: Format
  private let now: @Sendable () -> String
  private let write: @Sendable (String) -> Void

  /// A handler for the logger `label`.
  ///
  /// - Parameters:
  ///   - label: the logger's name.
  ///   - format: how a line looks.
  ///   - level: what is less than this is not written.
  ///   - now: the time as a line has it, in RFC 3339.
  ///   - write: takes a line that ends with a newline. It must not wait for long.
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

  package subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

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

  /// Without line breaks: one event is one line, whoever wrote what into it.
  private func text(_ event: LogEvent, _ members: [(key: String, value: Logger.MetadataValue)]) -> String {
    let rest = members.map { " \($0.key)=\(Self.text($0.value))" }.joined()
    let line = "\(now()) \(event.level.rawValue) \(label): \(event.message)\(rest)"
    return Redaction.cleaned(String(line.map { $0.isNewline ? " " : $0 })) + "\n"
  }

  private static func text(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string(let text): text
    case .stringConvertible(let value): "\(value)"
    case .array(let values): values.map(text).joined(separator: ",")
    case .dictionary(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }.joined(separator: ",")
        + "}"
    }
  }
}
