package import AppStore

/// Keeps what was done to fill gaps, so that it goes on where it was.
package protocol RepairStore {
  /// Until when the deliveries of an app are accounted for; `nil` before it was marked first.
  func deliveryMark(of appID: String, in environment: Environment) throws(StoreError) -> DeliveryWatermark?

  /// Remembers until when the deliveries of an app are accounted for.
  func put(_ mark: DeliveryWatermark, of appID: String, in environment: Environment) throws(StoreError)

  /// Remembers a new repair, and gives it its number.
  func begin(_ repair: Repair) throws(StoreError) -> Repair

  /// A repair by its number; `nil` if there is none.
  func repair(_ id: Int64) throws(StoreError) -> Repair?

  /// Remembers how far a repair came.
  func put(_ repair: Repair) throws(StoreError)

  /// Forgets repairs that were finished before `moment`, with their reports.
  func forgetRepairs(finishedBefore moment: Instant) throws(StoreError)

  /// Apple is to be asked about this line in the course of a repair.
  func enqueue(_ line: LineKey, for repairID: Int64) throws(StoreError)

  /// Apple is to be asked, in the course of a repair, about all lines that are due by `moment` in any case.
  func enqueueDuePolls(by moment: Instant, for repair: Repair) throws(StoreError)

  /// Apple is to be asked, in the course of a repair, about the next `limit` lines that somebody owns, by their
  /// numbers, beginning behind `last`.
  ///
  /// - Returns: the last of them; `nil` if there was none.
  func enqueueOwnedLines(
    after last: String?, limit: Int, for repair: Repair
  ) throws(StoreError) -> String?

  /// Apple was asked about this line in the course of a repair, or cannot be.
  func dequeue(_ line: LineKey, from repairID: Int64) throws(StoreError)

  /// Remembers a line of a repair's report, unless there is one about this customer and entitlement.
  func notice(_ drift: Drift, in repairID: Int64) throws(StoreError)

  /// Remembers what came out for a line of the report.
  func settle(_ drift: Drift, in repairID: Int64) throws(StoreError)

  /// Takes a line out of the report: what was believed was right.
  func drop(_ drift: Drift, from repairID: Int64) throws(StoreError)
}

/// Reads what ``RepairStore`` keeps.
package protocol RepairReader {
  /// A repair by its number; `nil` if the app has none of it.
  func repair(_ id: Int64, of appID: String) throws(StoreError) -> Repair?

  /// At most `limit` repairs of an app, the latest first, before that of number `before`; `nil` begins. Those
  /// of every environment where none is named.
  func repairs(
    of appID: String, in environment: Environment?, before: Int64?, limit: Int
  ) throws(StoreError) -> [Repair]

  /// The repair of an app that was begun first and is not finished; `nil` if all are.
  func openRepair(of appID: String, in environment: Environment) throws(StoreError) -> Repair?

  /// At most `limit` lines about which Apple is still to be asked in the course of a repair, by their numbers,
  /// beginning behind `last`.
  func queuedLines(of repair: Repair, after last: String?, limit: Int) throws(StoreError) -> [LineKey]

  /// At most `limit` lines of a repair's report, by customer and entitlement, beginning behind `last`; of
  /// the finished ones, those that differ.
  func drifts(of repair: Repair, after last: Drift.Key?, limit: Int) throws(StoreError) -> [Drift]

  /// How many customers a repair's report is about.
  func driftedCustomers(of repair: Repair) throws(StoreError) -> Int64

  /// Until when the deliveries of an app are accounted for; `nil` before it was marked first.
  func deliveryMark(of appID: String, in environment: Environment) throws(StoreError) -> DeliveryWatermark?
}
