internal import AppStore
internal import SQLite
internal import Store

// Pending calls to Apple, and the progress of gap repair.
extension SQLiteReader {
  func duePolls(
    of appID: String, in environment: Environment, by instant: Instant, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try beginTick()
    return try PollQueries(connection, of: appID, in: environment).due(by: instant, limit: limit)
  }

  func nextPoll(of appID: String, in environment: Environment) throws(StoreError) -> Instant? {
    try beginTick()
    return try PollQueries(connection, of: appID, in: environment).next()
  }

  func pollBacklog(
    of appID: String, in environment: Environment, by instant: Instant
  ) throws(StoreError) -> Int64 {
    try beginTick()
    return try PollQueries(connection, of: appID, in: environment).backlog(by: instant)
  }

  func repair(_ id: Int64, of appID: String) throws(StoreError) -> Repair? {
    try beginTick()
    guard let repair = try RepairQueries(connection).repair(id), repair.appID == appID else { return nil }
    return repair
  }

  func repairs(
    of appID: String, in environment: Environment?, before: Int64?, limit: Int
  ) throws(StoreError) -> [Repair] {
    try beginTick()
    return try RepairQueries(connection).page(of: appID, in: environment, before: before, limit: limit)
  }

  func openRepair(of appID: String, in environment: Environment) throws(StoreError) -> Repair? {
    try beginTick()
    return try RepairQueries(connection).open(of: appID, in: environment)
  }

  func queuedLines(
    of repair: Repair, after last: String?, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try beginTick()
    return try RepairQueries(connection).queuedLines(of: repair, after: last, limit: limit)
  }

  func drifts(of repair: Repair, after last: Drift.Key?, limit: Int) throws(StoreError) -> [Drift] {
    try beginTick()
    return try RepairQueries(connection).drifts(of: repair, after: last, limit: limit)
  }

  func driftedCustomers(of repair: Repair) throws(StoreError) -> Int64 {
    try beginTick()
    return try RepairQueries(connection).driftedCustomers(of: repair)
  }

  func deliveryWatermark(of appID: String, in environment: Environment) throws(StoreError)
    -> DeliveryWatermark?
  {
    try beginTick()
    return try RepairQueries(connection).watermark(of: appID, in: environment)
  }
}

// Migration jobs.
extension SQLiteReader {
  func migration(_ id: Int64) throws(StoreError) -> MigrationJob? {
    try beginTick()
    return try MigrationRows.job(id, connection)
  }

  func migration(withKey key: String, of appID: String) throws(StoreError) -> MigrationJob? {
    try beginTick()
    return try MigrationRows.job(withKey: key, of: appID, connection)
  }

  func runningMigrations() throws(StoreError) -> [MigrationJob] {
    try beginTick()
    return try MigrationRows.running(connection)
  }

  func doneLines(of id: Int64) throws(StoreError) -> Set<Int64> {
    try beginTick()
    return try MigrationRows.doneLines(of: id, connection)
  }

  func migrationFailures(of id: Int64, after line: Int64, limit: Int) throws(StoreError) -> [MigrationLine] {
    try beginTick()
    return try MigrationRows.failures(of: id, after: line, limit: limit, connection)
  }

  func migrationReasons(of id: Int64) throws(StoreError) -> [MigrationReason] {
    try beginTick()
    return try MigrationRows.reasons(of: id, connection)
  }
}

// Webhook cursors and undelivered messages.
extension SQLiteReader {
  func cursor(of webhook: WebhookKey) throws(StoreError) -> WebhookCursor? {
    try beginTick()
    return try DeliveryQueries(connection).cursor(of: webhook)
  }

  func deliveries(
    of webhook: WebhookKey, dueBy now: Instant, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTick()
    return try DeliveryQueries(connection).due(webhook, by: now, limit: limit)
  }

  func nextDue(of webhook: WebhookKey) throws(StoreError) -> Instant? {
    try beginTick()
    return try DeliveryQueries(connection).nextDue(webhook)
  }

  func deliveries(
    about subject: OrderingKey, of webhook: WebhookKey, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTick()
    return try DeliveryQueries(connection).pending(webhook, about: subject, limit: limit)
  }

  func deliveries(
    of webhook: WebhookKey, in state: Delivery.State?, after position: Int64, limit: Int
  ) throws(StoreError) -> [Delivery] {
    try beginTick()
    return try DeliveryQueries(connection).page(of: webhook, in: state, after: position, limit: limit)
  }

  func deliveryCounts(of webhook: WebhookKey) throws(StoreError) -> DeliveryCounts {
    try beginTick()
    return try DeliveryQueries(connection).counts(webhook)
  }
}

// Notifications in order of arrival.
extension SQLiteReader {
  func notifications(
    of appID: String, after evidence: EvidenceID, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    try beginTick()
    return try NotificationQueries(connection).arrivals(of: appID, after: evidence, limit: limit)
  }

  func lastNotification() throws(StoreError) -> Int64 {
    try beginTick()
    return try connection.number("SELECT ifnull(max(evidence_id), 0) FROM notification")
  }

  func notifiedLines(
    of appID: String, in environment: Environment, from start: Instant, to end: Instant,
    after line: String, limit: Int
  ) throws(StoreError) -> [LineKey] {
    try beginTick()
    return try NotificationQueries(connection).lines(
      of: appID, in: environment, from: start, to: end, after: line, limit: limit)
  }

  func notifications(
    about line: LineKey, from start: Instant, to end: Instant, limit: Int
  ) throws(StoreError) -> [NotificationRecord] {
    try beginTick()
    return try NotificationQueries(connection).about(line, from: start, to: end, limit: limit)
  }
}
