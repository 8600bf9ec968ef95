internal import AppStore
internal import JSON

/// The log of everything that happened in the sandbox.
///
/// The journal is the source of truth: a restart replays it. A corrected rule of the simulator therefore
/// applies to the past, too.
struct Journal: Sendable {
  /// One thing that happened, as a line of the journal.
  enum Entry: Hashable, Sendable {
    /// A process opened the world: ids that an earlier process may have lost are skipped.
    case opened
    /// The world began, or continues after a restore: later ids and UUIDs are those of no other world.
    case origin(WorldOrigin)
    /// The clock was set or changed its speed.
    case clock(SandboxClock.Setting)
    /// A tester, the developer or the service performed an action that the world accepted.
    case action(Action, JSONObject)
    /// Time had effects that a reader may have seen.
    case passed
    /// The clock reached a time in an advance, whose own entry follows unless the process is killed.
    case advancing
    /// The result of a delivery attempt of the notification at that index, and the time of the next attempt.
    case attempt(notification: Int, SendAttemptResult, next: Instant?)
    /// The delivery of the notification at that index was postponed by a fault.
    case postponed(notification: Int, to: Instant)
  }

  private let store: any JournalStore
  /// Recorded entries that are not written yet, oldest first.
  private var unwritten: [JournalLine] = []
  /// The lines of earlier processes; discarded by ``begin(_:_:)``.
  private var stored: [JournalLine]

  /// Opens the journal in `store` and reads its lines.
  init(_ store: any JournalStore) throws(SandboxError) {
    self.store = store
    stored = try store.lines()
  }

  /// Decodes the entries of earlier processes, oldest first.
  func entries() throws(SandboxError) -> [(at: Instant, entry: Entry)] {
    try Self.entries(of: stored, from: store.path)
  }

  /// Decodes lines; `path` names their origin in the error.
  ///
  /// - Throws: ``SandboxError/corrupt(path:detail:)`` with the number of the first malformed line.
  static func entries(
    of lines: [JournalLine], from path: String
  ) throws(SandboxError) -> [(at: Instant, entry: Entry)] {
    var entries: [(at: Instant, entry: Entry)] = []
    for line in lines {
      guard let json = try? JSONValue(parsing: line.entry).objectValue, let entry = Entry(json) else {
        throw .corrupt(path: path, detail: "journal line \(entries.count + 1) is malformed")
      }
      entries.append((line.at, entry))
    }
    return entries
  }

  /// Whether recorded entries are not written yet.
  var hasUnwrittenEntries: Bool { !unwritten.isEmpty }

  /// Records an entry, which is durable after ``flush(_:)``. The order of the calls is that of a replay.
  mutating func record(_ entry: Entry, at instant: Instant) {
    unwritten.append(entry.line(at: instant))
  }

  /// All lines, oldest first, including those that are not written yet.
  func lines() throws(SandboxError) -> [JournalLine] { try store.lines() + unwritten }

  /// Replaces all lines and all table rows. After an error nothing has changed.
  mutating func replace(
    with lines: [JournalLine], _ tables: [WorldTable], _ rows: () -> [RowChange]
  ) throws(SandboxError) {
    try store.replace(with: lines, tables, rows)
    unwritten = []
  }

  /// Writes the recorded entries as the first ones of this process, together with all table rows.
  mutating func begin(_ tables: [WorldTable], _ rows: () -> [RowChange]) throws(SandboxError) {
    try store.begin(unwritten, tables, rows)
    (stored, unwritten) = ([], [])
  }

  /// Writes the recorded entries and the changed table rows. Entries that cannot be written are kept for the
  /// next call.
  mutating func flush(_ rows: () -> [RowChange]) throws(SandboxError) {
    try store.append(unwritten, rows)
    unwritten = []
  }

  /// Milliseconds since 1970, as the journal has times.
  static func instant(_ value: JSONValue?) -> Instant? {
    value?.int64Value.map { Instant(millisecondsSince1970: $0) }
  }
}

extension Journal.Entry {
  /// The entry as a line of JSON.
  func line(at instant: Instant) -> JournalLine {
    JournalLine(at: instant, entry: String(decoding: json.serialized(), as: UTF8.self))
  }

  private var json: JSONObject {
    switch self {
    case .opened: ["opened": true]
    case .origin(let origin):
      ["origin": JSONValue(origin.firstNumber), "seed": JSONValue(Int64(bitPattern: origin.seed))]
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
    case .advancing: ["advancing": true]
    case .attempt(let notification, let result, let next):
      JSONObject(present: [
        ("attempt", JSONValue(Int64(notification))), ("result", .string(result.rawValue)),
        ("next", next.map { JSONValue($0) }),
      ])
    case .postponed(let notification, let instant):
      ["postponed": JSONValue(Int64(notification)), "to": JSONValue(instant)]
    }
  }

  /// Decodes an entry; `nil` if it is malformed.
  init?(_ json: JSONObject) {
    if json["opened"] != nil {
      self = .opened
    } else if let number = json["origin"]?.int64Value, let seed = json["seed"]?.int64Value,
      let origin = WorldOrigin(firstNumber: number, seed: UInt64(bitPattern: seed))
    {
      self = .origin(origin)
    } else if json["passed"] != nil {
      self = .passed
    } else if json["advancing"] != nil {
      self = .advancing
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
