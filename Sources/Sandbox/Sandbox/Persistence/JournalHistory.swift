internal import AppStore
internal import JSON

/// The latest entries of the journal in memory, for testers who look at what happened.
struct JournalHistory: Sendable {
  /// One entry with the indices of the notifications that it caused.
  struct Line: Sendable {
    /// Counted from 1; the column `line` of the table `journal`.
    let number: Int
    let at: Instant
    let entry: Journal.Entry
    let notifications: Range<Int>
    /// Whether the entry changes the speed of the clock.
    let changesSpeed: Bool
    /// Of an action: its members as another sandbox takes them (``World/portableMembers(of:_:)``).
    let portable: JSONObject
  }

  /// The number of entries that are at least available, because `live` records thousands.
  static let limit = 10_000
  /// The number of entries that are removed at once, so that not each one moves all.
  private static let slack = 1_000

  private(set) var lines: [Line] = []
  /// The number of all entries, including those that are no longer in ``lines``.
  private(set) var count = 0
  private var seenNotifications = 0
  private var speed: Int64 = 1

  /// Appends an entry. `notifications` is the number of the world's notifications after it; `portable` has the members
  /// of an action as another sandbox takes them.
  mutating func append(
    _ entry: Journal.Entry, at instant: Instant, notifications: Int, portable: JSONObject = [:]
  ) {
    count += 1
    var caused = seenNotifications..<seenNotifications
    switch entry {
    // They are recorded during an advance, whose entry follows.
    case .advancing, .attempt, .postponed: break
    case .opened, .origin, .clock, .action, .passed:
      caused = seenNotifications..<max(seenNotifications, notifications)
      seenNotifications = caused.upperBound
    }
    var changesSpeed = false
    if case .clock(let setting) = entry {
      changesSpeed = setting.speed != speed
      speed = setting.speed
    }
    lines.append(
      Line(
        number: count, at: instant, entry: entry, notifications: caused, changesSpeed: changesSpeed,
        portable: portable))
    if lines.count > Self.limit + Self.slack { lines.removeFirst(Self.slack) }
  }
}
