internal import JSON
internal import SeatRoster

/// The results of an import of a roster, or of its dry run: an entry for each row, and for each released
/// seat.
struct RosterReport {
  /// The result for a row or seat, or the expected one in a dry run. The raw values are words of the output.
  enum Change: String {
    case claimed, released, unchanged, failed
    /// A row that names the same purchase and customer as one before it.
    case repeated
    /// A seat that would be released if no row of the roster had failed.
    case heldBack = "held-back"
  }

  struct Entry {
    let change: Change
    /// The row of the roster; `nil` for a seat whose holder is in no row.
    var row: Int?
    var purchase: String?
    var customer: String?
    var seat: String?
    /// The reason of a failure.
    var problem: String?
  }

  let isDryRun: Bool
  private(set) var entries: [Entry] = []

  init(isDryRun: Bool) { self.isDryRun = isDryRun }

  mutating func add(_ entry: Entry) { entries.append(entry) }

  mutating func add(_ row: Roster.Row, _ change: Change, seat: String? = nil, problem: String? = nil) {
    add(
      Entry(
        change: change, row: row.number, purchase: row.purchase, customer: row.customer, seat: seat,
        problem: problem))
  }

  mutating func add(_ seat: ClaimedSeat, of purchase: String, _ change: Change, problem: String? = nil) {
    add(Entry(change: change, purchase: purchase, customer: seat.customer, seat: seat.id, problem: problem))
  }

  var failed: Int { count(.failed) }

  private func count(_ change: Change) -> Int { entries.count { $0.change == change } }

  private static let all: [Change] = [.claimed, .released, .unchanged, .repeated, .heldBack, .failed]

  /// The numbers of all entries, and the entries that changed something or failed.
  var json: JSONObject {
    var json: JSONObject = ["dryRun": .bool(isDryRun)]
    for change in Self.all { json[change.rawValue] = JSONValue(Int64(count(change))) }
    json["entries"] = .array(
      entries.filter { $0.change != .unchanged }.map { entry in
        .object(
          JSONObject(present: [
            ("change", .string(entry.change.rawValue)), ("row", entry.row.map { JSONValue(Int64($0)) }),
            ("originalTransactionId", entry.purchase.map(JSONValue.string)),
            ("customerId", entry.customer.map(JSONValue.string)),
            ("seatId", entry.seat.map(JSONValue.string)), ("problem", entry.problem.map(JSONValue.string)),
          ]))
      })
    return json
  }

  /// A line for each entry that changed something or failed, and the numbers.
  var text: String {
    let lines = entries.filter { $0.change != .unchanged }.map { entry in
      [
        entry.change.rawValue, entry.row.map { "row \($0)" }, entry.customer, entry.seat,
        entry.purchase.map { "of \($0)" }, entry.problem,
      ].compactMap(\.self).joined(separator: "\t")
    }
    let counts = Self.all.map { "\($0.rawValue) \(count($0))" }.joined(separator: ", ")
    return (lines + [(isDryRun ? "dry run: " : "") + counts]).joined(separator: "\n")
  }
}
