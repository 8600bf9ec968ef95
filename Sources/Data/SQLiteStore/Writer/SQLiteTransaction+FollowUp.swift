internal import AppStore
internal import SQLite
internal import Store

// What Apple is still to be asked, and how far the filling of gaps came.
extension SQLiteTransaction {
  func lastPoll(of line: LineKey) throws(StoreError) -> Instant? { try poll.lastPoll(of: line) }

  func schedulePoll(of line: LineKey, at moment: Instant?) throws(StoreError) {
    try poll.schedule(line, at: moment)
  }

  func reschedulePoll(of line: LineKey, _ next: (Instant?) -> Instant?) throws(StoreError) {
    try poll.reschedule(line, next)
  }

  func recordPoll(of line: LineKey, at moment: Instant) throws(StoreError) -> Bool {
    try poll.record(line, at: moment)
  }

  func deliveryMark(of appID: String, in environment: Environment) throws(StoreError) -> DeliveryWatermark? {
    try repairQuery.mark(of: appID, in: environment)
  }

  func put(_ mark: DeliveryWatermark, of appID: String, in environment: Environment) throws(StoreError) {
    try repair.put(mark, of: appID, in: environment)
  }

  func begin(_ repair: Repair) throws(StoreError) -> Repair { try self.repair.begin(repair) }

  func repair(_ id: Int64) throws(StoreError) -> Repair? { try repairQuery.repair(id) }

  func put(_ repair: Repair) throws(StoreError) { try self.repair.put(repair) }

  func forgetRepairs(finishedBefore moment: Instant) throws(StoreError) {
    try repair.forget(finishedBefore: moment)
  }

  func enqueue(_ line: LineKey, for repairID: Int64) throws(StoreError) {
    try repair.enqueue(line, for: repairID)
  }

  func enqueueDuePolls(by moment: Instant, for repair: Repair) throws(StoreError) {
    try self.repair.enqueueDuePolls(by: moment, for: repair)
  }

  func enqueueOwnedLines(
    after last: String?, limit: Int, for repair: Repair
  ) throws(StoreError) -> String? {
    try self.repair.enqueueOwnedLines(after: last, limit: limit, for: repair)
  }

  func dequeue(_ line: LineKey, from repairID: Int64) throws(StoreError) {
    try repair.dequeue(line, from: repairID)
  }

  func notice(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try repair.notice(drift, in: repairID)
  }

  func settle(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try repair.settle(drift, in: repairID)
  }

  func drop(_ drift: Drift, from repairID: Int64) throws(StoreError) {
    try repair.drop(drift, from: repairID)
  }
}
