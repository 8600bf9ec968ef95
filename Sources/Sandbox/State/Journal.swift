internal import AppStore
internal import JSON

/// What was done in the sandbox and when, one line of JSON each in a file that only grows.
///
/// A world is not written down: doing the same again at the same moments makes it again, so a restart replays.
struct Journal {
  enum Entry {
    /// A world began, or a process took it over: numbers that may be lost after it are passed over.
    case opened
    case clock(SandboxClock.Setting)
    case action(Action, JSONObject)
    /// A notification was sent, or not: the number in the outbox, the result, and when to try again.
    case attempt(notice: Int, SendAttemptResult, next: Instant?)
  }

  private let directory: any StateFiles
  private static let file = "journal"

  init(directory: any StateFiles) { self.directory = directory }

  /// What was written down, the oldest first. What a crash or a full disk cut short is passed over: it was never
  /// answered.
  func entries() throws(SandboxError) -> [(at: Instant, entry: Entry)] {
    let lines = try directory.read(Self.file)?.split(separator: "\n") ?? []
    return lines.compactMap { Self.read(String($0)) }
  }

  func append(_ entry: Entry, at instant: Instant) throws(SandboxError) {
    var json: JSONObject = ["at": JSONValue(instant)]
    switch entry {
    case .opened: json["opened"] = true
    case .clock(let setting):
      json["clock"] = [
        "sandbox": JSONValue(setting.sandbox), "machine": JSONValue(setting.machine),
        "speed": JSONValue(setting.speed),
      ]
    case .action(let action, let parameters):
      json["action"] = .string(action.rawValue)
      json["with"] = .object(parameters)
    case .attempt(let notice, let result, let next):
      json["attempt"] = JSONValue(Int64(notice))
      json["result"] = .string(result.rawValue)
      json["next"] = next.map { JSONValue($0) }
    }
    // The newline goes first, so that what was cut short before stays a line of its own.
    let line = [UInt8(ascii: "\n")] + json.serialized()
    if case .opened = entry {
      // Numbers must not be given out twice even after a power loss.
      try directory.appendDurably(Self.file, line)
    } else {
      try directory.append(Self.file, line)
    }
  }

  private static func read(_ line: String) -> (at: Instant, entry: Entry)? {
    guard let json = try? JSONValue(parsing: line).objectValue, let at = instant(json["at"]),
      let entry = entry(json)
    else { return nil }
    return (at, entry)
  }

  private static func entry(_ json: JSONObject) -> Entry? {
    if json["opened"] != nil { return .opened }
    if let clock = json["clock"]?.objectValue, let sandbox = instant(clock["sandbox"]),
      let machine = instant(clock["machine"]), let speed = clock["speed"]?.int64Value
    {
      return .clock(SandboxClock.Setting(sandbox: sandbox, machine: machine, speed: speed))
    }
    if let action = json["action"]?.stringValue.flatMap(Action.init), let with = json["with"]?.objectValue {
      return .action(action, with)
    }
    if let notice = json["attempt"]?.int64Value,
      let result = json["result"]?.stringValue.flatMap(SendAttemptResult.init)
    {
      return .attempt(notice: Int(notice), result, next: instant(json["next"]))
    }
    return nil
  }

  private static func instant(_ value: JSONValue?) -> Instant? {
    value?.int64Value.map { Instant(millisecondsSince1970: $0) }
  }
}
