internal import AppStore
internal import SQLite
internal import Store

// Pending calls to Apple, and the progress of gap repair.
extension SQLiteTransaction {
  func lastPoll(of line: LineKey) throws(StoreError) -> Instant? { try poll.lastPoll(of: line) }

  func schedulePoll(of line: LineKey, at instant: Instant?) throws(StoreError) {
    try poll.schedule(line, at: instant)
  }

  func reschedulePoll(of line: LineKey, _ next: (Instant?) -> Instant?) throws(StoreError) {
    try poll.reschedule(line, next)
  }

  func recordPoll(of line: LineKey, at instant: Instant) throws(StoreError) -> Bool {
    try poll.record(line, at: instant)
  }

  func deliveryWatermark(of appID: String, in environment: Environment) throws(StoreError)
    -> DeliveryWatermark?
  {
    try repairQuery.watermark(of: appID, in: environment)
  }

  func put(_ mark: DeliveryWatermark, of appID: String, in environment: Environment) throws(StoreError) {
    try repair.put(mark, of: appID, in: environment)
  }

  func begin(_ repair: Repair) throws(StoreError) -> Repair { try self.repair.begin(repair) }

  func repair(_ id: Int64) throws(StoreError) -> Repair? { try repairQuery.repair(id) }

  func put(_ repair: Repair) throws(StoreError) { try self.repair.put(repair) }

  func purgeRepairs(finishedBefore instant: Instant) throws(StoreError) {
    try repair.purge(finishedBefore: instant)
  }

  func enqueue(_ line: LineKey, for repairID: Int64) throws(StoreError) {
    try repair.enqueue(line, for: repairID)
  }

  func enqueueDuePolls(by instant: Instant, for repair: Repair) throws(StoreError) {
    try self.repair.enqueueDuePolls(by: instant, for: repair)
  }

  func enqueueOwnedLines(
    after last: String?, limit: Int, for repair: Repair
  ) throws(StoreError) -> String? {
    try self.repair.enqueueOwnedLines(after: last, limit: limit, for: repair)
  }

  func dequeue(_ line: LineKey, from repairID: Int64) throws(StoreError) {
    try repair.dequeue(line, from: repairID)
  }

  func record(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try repair.record(drift, in: repairID)
  }

  func confirm(_ drift: Drift, in repairID: Int64) throws(StoreError) {
    try repair.confirm(drift, in: repairID)
  }

  func discard(_ drift: Drift, from repairID: Int64) throws(StoreError) {
    try repair.discard(drift, from: repairID)
  }
}

// Migration jobs.
extension SQLiteTransaction {
  func begin(_ order: MigrationJob.Order, at instant: Instant) throws(StoreError) -> MigrationJob {
    try migration.begin(order, at: instant)
  }

  func migration(_ id: Int64) throws(StoreError) -> MigrationJob? { try MigrationRows.job(id, connection) }

  func migration(withKey key: String, of appID: String) throws(StoreError) -> MigrationJob? {
    try MigrationRows.job(withKey: key, of: appID, connection)
  }

  func runningMigrations() throws(StoreError) -> [MigrationJob] { try MigrationRows.running(connection) }

  func finish(_ line: MigrationLine, of id: Int64) throws(StoreError) {
    try migration.finish(line, of: id)
  }

  func saveProgress(of id: Int64, to line: Int64, position: Int64) throws(StoreError) {
    try migration.saveProgress(of: id, to: line, position: position)
  }

  func doneLines(of id: Int64) throws(StoreError) -> Set<Int64> {
    try MigrationRows.doneLines(of: id, connection)
  }

  func end(
    _ id: Int64, as state: MigrationJob.State, error: String, at instant: Instant
  ) throws(StoreError) {
    try migration.end(id, as: state, error: error, at: instant)
  }

  func purgeFailures(of id: Int64) throws(StoreError) { try migration.purgeFailures(of: id) }

  func migrationFailures(
    of id: Int64, after line: Int64, limit: Int
  ) throws(StoreError) -> [MigrationLine] {
    try MigrationRows.failures(of: id, after: line, limit: limit, connection)
  }

  func migrationReasons(of id: Int64) throws(StoreError) -> [MigrationReason] {
    try MigrationRows.reasons(of: id, connection)
  }
}

// Webhook cursors and undelivered messages.
extension SQLiteTransaction {
  func begin(_ webhook: WebhookKey) throws(StoreError) { try delivery.begin(webhook) }

  func put(_ state: WebhookCursor, of webhook: WebhookKey) throws(StoreError) {
    try delivery.put(state, of: webhook)
  }

  func resume(_ webhook: WebhookKey) throws(StoreError) { try delivery.resume(webhook) }

  func put(_ delivery: Delivery, of webhook: WebhookKey) throws(StoreError) {
    try self.delivery.put(delivery, of: webhook)
  }

  func remove(_ position: Int64, of webhook: WebhookKey) throws(StoreError) {
    try delivery.remove(position, of: webhook)
  }

  func reschedule(_ subjects: [OrderingKey], of webhook: WebhookKey, at now: Instant) throws(StoreError) {
    try delivery.reschedule(subjects, of: webhook, at: now)
  }

  func retryNow(_ webhook: WebhookKey, at now: Instant) throws(StoreError) {
    try delivery.retryNow(webhook, at: now)
  }

  func discard(_ positions: [Int64]?, of webhook: WebhookKey) throws(StoreError) -> Int64 {
    try delivery.discard(positions, of: webhook)
  }

  func requeue(_ webhook: WebhookKey, limit: Int) throws(StoreError) -> [OrderingKey] {
    try delivery.requeue(webhook, limit: limit)
  }
}
