package import AppStore

/// Stores gap repairs with their progress, so that they continue after a restart.
package protocol RepairStore {
  /// Returns the watermark of an app's deliveries; `nil` before the first one is stored.
  func deliveryWatermark(of appID: String, in environment: Environment) throws(StoreError)
    -> DeliveryWatermark?

  /// Replaces the watermark of an app's deliveries.
  func put(_ mark: DeliveryWatermark, of appID: String, in environment: Environment) throws(StoreError)

  /// Inserts a repair and assigns its id.
  func begin(_ repair: Repair) throws(StoreError) -> Repair

  /// Returns a repair by its id; `nil` if it does not exist.
  func repair(_ id: Int64) throws(StoreError) -> Repair?

  /// Replaces a repair.
  func put(_ repair: Repair) throws(StoreError)

  /// Returns the unfinished repair of an app for `reason` that has not read its history for an error; `nil` if there is
  /// none.
  func delayedRepair(
    for reason: Repair.Reason, of appID: String, in environment: Environment
  ) throws(StoreError) -> Repair?

  /// Records the error that delays all unfinished repairs of an app in one environment.
  func recordError(
    _ error: String, inUnfinishedRepairsOf appID: String, in environment: Environment
  ) throws(StoreError)

  /// Deletes repairs that finished before `instant`, with their reports.
  func purgeRepairs(finishedBefore instant: Instant) throws(StoreError)

  /// Adds a line to the queue of a repair.
  func enqueue(_ line: LineKey, for repairID: Int64) throws(StoreError)

  /// Adds all lines whose status poll is due by `instant` to the queue of a repair.
  func enqueueDuePolls(by instant: Instant, for repair: Repair) throws(StoreError)

  /// Adds the next `limit` owned lines, ordered by line id, after `last` to the queue of a repair.
  ///
  /// - Returns: the last of them; `nil` if there was none.
  func enqueueOwnedLines(
    after last: String?, limit: Int, for repair: Repair
  ) throws(StoreError) -> String?

  /// Removes a line from the queue of a repair.
  func dequeue(_ line: LineKey, from repairID: Int64) throws(StoreError)

  /// Empties the queue of a repair.
  func dequeueLines(from repairID: Int64) throws(StoreError)

  /// Records the status before the repair, unless the report has an entry for this customer and entitlement.
  func record(_ drift: Drift, in repairID: Int64) throws(StoreError)

  /// Records the status after the repair in an entry of the report.
  func confirm(_ drift: Drift, in repairID: Int64) throws(StoreError)

  /// Removes an entry without a difference from the report.
  func discard(_ drift: Drift, from repairID: Int64) throws(StoreError)
}

/// Reads gap repairs and their reports.
package protocol RepairReader {
  /// Returns a repair by its id; `nil` if the app does not have it.
  func repair(_ id: Int64, of appID: String) throws(StoreError) -> Repair?

  /// Returns at most `limit` repairs of an app with ids below `before`, latest first; of one environment, or
  /// of all.
  func repairs(
    of appID: String, in environment: Environment?, before: Int64?, limit: Int
  ) throws(StoreError) -> [Repair]

  /// Returns the oldest unfinished repair of an app with an id above `last`; `nil` if there is none.
  func openRepair(of appID: String, in environment: Environment, after last: Int64) throws(StoreError)
    -> Repair?

  /// Returns at most `limit` queued lines of a repair after `last`, ordered by line id.
  func queuedLines(of repair: Repair, after last: String?, limit: Int) throws(StoreError) -> [LineKey]

  /// Returns at most `limit` entries of a repair's report after `last`, ordered by customer and entitlement;
  /// a finished repair has only those that differ.
  func drifts(of repair: Repair, after last: Drift.Key?, limit: Int) throws(StoreError) -> [Drift]

  /// Returns the number of customers in a repair's report.
  func driftedCustomers(of repair: Repair) throws(StoreError) -> Int64

  /// Returns the watermark of an app's deliveries; `nil` before the first one is stored.
  func deliveryWatermark(of appID: String, in environment: Environment) throws(StoreError)
    -> DeliveryWatermark?
}
