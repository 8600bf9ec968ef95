internal import AppStore
internal import JSON

/// What was done in the sandbox and when.
///
/// It is the truth: doing the same again at the same moments makes the same world again, so a restart replays, and a
/// rule of the simulator that is mended applies to the past.
struct Journal: Sendable {
  enum Entry: Hashable, Sendable {
    /// A world began, or a process took it over: numbers that may be lost after it are passed over.
    case opened
    case clock(SandboxClock.Setting)
    case action(Action, JSONObject)
    /// Time brought something about that somebody may have seen.
    case passed
    /// A notification was sent, or not: the number in the outbox, the result, and when to try again.
    case attempt(notification: Int, SendAttemptResult, next: Instant?)
    /// A notification is sent later than it should be.
    case postponed(notification: Int, to: Instant)
  }

  private let store: any JournalStore
  /// Recorded entries that are not written yet, the oldest first.
  private var unwritten: [JournalLine] = []
  /// The lines of earlier processes; discarded by ``begin(_:_:)``.
  private var stored: [JournalLine]

  /// Opens the journal in `store` and reads its lines.
  init(_ store: any JournalStore) throws(SandboxError) {
    self.store = store
    stored = try store.lines()
  }

  /// What was done before this process, the oldest first.
  func entries() throws(SandboxError) -> [(at: Instant, entry: Entry)] {
    var entries: [(at: Instant, entry: Entry)] = []
    for line in stored {
      guard let json = try? JSONValue(parsing: line.entry).objectValue, let entry = Entry(json) else {
        throw .corrupt(
          path: store.path,
          detail: "journal line \(entries.count + 1) is malformed")
      }
      entries.append((line.at, entry))
    }
    return entries
  }

  /// Whether something was noted that is not written down.
  var hasUnwrittenEntries: Bool { !unwritten.isEmpty }

  /// Notes what was done. It is remembered once it is written down.
  mutating func record(_ entry: Entry, at instant: Instant) { 
    unwritten.append(JournalLine(at: instant, entry: String(decoding: entry.json.serialized(), as: UTF8.self)))
  }

  /// Writes down what was noted, as the first thing of this process, and all rows there are.
  mutating func begin(_ tables: [WorldTable], _ rows: () -> [RowChange]) throws(SandboxError) {
    try store.begin(unwritten, tables, rows)
    (stored, unwritten) = ([], [])
  }

  /// Writes down what was noted, and the rows that changed. What cannot be written is written with what follows.
  mutating func flush(_ rows: () -> [RowChange]) throws(SandboxError) {
    try store.append(unwritten, rows)
    unwritten = []
  }

  static func instant(_ value: JSONValue?) -> Instant? {
    value?.int64Value.map { Instant(millisecondsSince1970: $0) }
  }
}

extension Journal.Entry {
  fileprivate var json: JSONObject {
    switch self {
    case .opened: ["opened": true]
    case .clock(let setting):
      [
        "clock": [
          "sandbox": JSONValue(setting.sandbox), "machine": JSONValue(setting.machine),
          "speed": JSONValue(setting.speed),
        ]
      ]
    case .action(let action, let parameters):
      ["action": .string(action.rawValue), "with": .object(parameters)]
    case .passed: ["passed": true]
    case .attempt(let notification, let result, let next):
      JSONObject(present: [
        ("attempt", JSONValue(Int64(notification))), ("result", .string(result.rawValue)),
        ("next", next.map { JSONValue($0) }),
      ])
    case .postponed(let notification, let instant):
      ["postponed": JSONValue(Int64(notification)), "to": JSONValue(instant)]
    }
  }

  /// Reads what ``json`` says; `nil` if it is nothing of the kind.
  init?(_ json: JSONObject) {
    if json["opened"] != nil {
      self = .opened
    } else if json["passed"] != nil {
      self = .passed
    } else if let clock = json["clock"]?.objectValue, let sandbox = Journal.instant(clock["sandbox"]),
      let machine = Journal.instant(clock["machine"]), let speed = clock["speed"]?.int64Value
    {
      self = .clock(SandboxClock.Setting(sandbox: sandbox, machine: machine, speed: speed))
    } else if let action = json["action"]?.stringValue.flatMap(Action.init),
      let parameters = json["with"]?.objectValue
    {
      self = .action(action, parameters)
    } else if let notification = json["attempt"]?.int64Value,
      let result = json["result"]?.stringValue.map(SendAttemptResult.init(rawValue:))
    {
      self = .attempt(notification: Int(notification), result, next: Journal.instant(json["next"]))
    } else if let notification = json["postponed"]?.int64Value, let instant = Journal.instant(json["to"]) {
      self = .postponed(notification: Int(notification), to: instant)
    } else {
      return nil
    }
  }
}
