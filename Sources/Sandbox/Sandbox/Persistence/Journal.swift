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
    case attempt(notice: Int, SendAttemptResult, next: Instant?)
    /// A notification is sent later than it should be.
    case postponed(notice: Int, to: Instant)
  }

  private let keeper: any JournalStore
  /// What earlier versions left, and is still to be set aside.
  private var old: TextJournal?
  /// What was noted and is not written down yet, the oldest first.
  private var unwritten: [JournalLine]
  /// What was written down before this process; let go of when it begins.
  private var known: [JournalLine]

  /// Opens the journal, and takes in that of an earlier version.
  init(_ home: SandboxStorage) throws(SandboxError) {
    keeper = home.keeper
    known = try keeper.lines()
    unwritten = []
    let old = TextJournal(files: home.files)
    guard let lines = try old.lines() else { return }
    self.old = old
    if known.isEmpty {
      unwritten = lines
    } else if !known.starts(with: lines) {
      throw .unusable(path: old.path, detail: "it tells of another world than \(keeper.path): take one away")
    }
  }

  /// What was done before this process, the oldest first.
  func entries() throws(SandboxError) -> [(at: Instant, entry: Entry)] {
    var entries: [(at: Instant, entry: Entry)] = []
    for line in known + unwritten {
      guard let json = try? JSONValue(parsing: line.entry).objectValue, let entry = Entry(json) else {
        throw .damaged(
          path: keeper.path,
          detail: "line \(entries.count + 1) of its journal is none that this version writes")
      }
      entries.append((line.at, entry))
    }
    return entries
  }

  /// Whether something was noted that is not written down.
  var isBehind: Bool { !unwritten.isEmpty }

  /// Notes what was done. It is remembered once it is written down.
  mutating func note(_ entry: Entry, at instant: Instant) { unwritten.append(Self.line(entry, at: instant)) }

  /// Writes down what was noted, as the first thing of this process, and all rows there are.
  mutating func begin(_ tables: [WorldTable], _ rows: () -> [RowChange]) throws(SandboxError) {
    try keeper.begin(unwritten, tables, rows)
    (known, unwritten) = ([], [])
    try old?.setAside()
    old = nil
  }

  /// Writes down what was noted, and the rows that changed. What cannot be written is written with what follows.
  mutating func write(_ rows: () -> [RowChange]) throws(SandboxError) {
    try keeper.append(unwritten, rows)
    unwritten = []
  }

  static func line(_ entry: Entry, at instant: Instant) -> JournalLine {
    JournalLine(at: instant, entry: String(decoding: entry.json.serialized(), as: UTF8.self))
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
    case .attempt(let notice, let result, let next):
      JSONObject(present: [
        ("attempt", JSONValue(Int64(notice))), ("result", .string(result.rawValue)),
        ("next", next.map { JSONValue($0) }),
      ])
    case .postponed(let notice, let instant):
      ["postponed": JSONValue(Int64(notice)), "to": JSONValue(instant)]
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
    } else if let notice = json["attempt"]?.int64Value,
      let result = json["result"]?.stringValue.flatMap(SendAttemptResult.init)
    {
      self = .attempt(notice: Int(notice), result, next: Journal.instant(json["next"]))
    } else if let notice = json["postponed"]?.int64Value, let instant = Journal.instant(json["to"]) {
      self = .postponed(notice: Int(notice), to: instant)
    } else {
      return nil
    }
  }
}
