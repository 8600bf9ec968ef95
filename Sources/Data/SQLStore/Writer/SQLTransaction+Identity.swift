internal import AppStore
internal import Store

// Ownership, identity and due times.
extension SQLTransaction {
  func owners(of line: LineKey) throws(StoreError) -> [String] { try ownership.owners(line) }

  func lines(of customer: CustomerKey) throws(StoreError) -> [LineKey] { try ownership.lines(of: customer) }

  func record(_ change: OwnershipChange) throws(StoreError) { try ownership.record(change) }

  func ownershipChanges(
    of customer: CustomerKey, by evidence: EvidenceID
  ) throws(StoreError) -> [OwnershipChange] {
    try ownership.changes(of: customer, by: evidence)
  }

  func formerOwners(of line: LineKey) throws(StoreError) -> [String] {
    try rows(
      """
      SELECT DISTINCT customer_id FROM ownership_change WHERE line_id = ? AND app = ? AND environment = ?
      """, line
    ) { $0.text(0) ?? "" }
  }

  func enqueue(_ line: LineKey, token: String?, replacing previous: LineKey?) throws(StoreError) {
    try claim.enqueue(line, token: token, replacing: previous)
  }

  func dequeue(_ line: LineKey) throws(StoreError) { try claim.dequeue(line) }

  func unclaimedLines(
    withToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> [LineKey] {
    try claim.unclaimedLines(withToken: token, of: appID, in: environment)
  }

  func unclaimedLines(replacing previous: LineKey) throws(StoreError) -> [LineKey] {
    try claim.unclaimedLines(replacing: previous)
  }

  func customerID(
    ofToken token: String, of appID: String, in environment: Environment
  ) throws(StoreError) -> String? {
    try claim.customerID(ofToken: token, of: appID, in: environment)
  }

  func register(token: String, for customer: CustomerKey) throws(StoreError) {
    try claim.register(token: token, for: customer)
  }

  func mergeTarget(of customer: CustomerKey) throws(StoreError) -> String? {
    try claim.mergeTarget(of: customer)
  }

  func setMergeTarget(_ mergeTarget: String?, of customer: CustomerKey) throws(StoreError) {
    try claim.setMergeTarget(mergeTarget, of: customer)
  }

  func due(by now: Instant, in domain: ClockDomain, limit: Int) throws(StoreError) -> [CustomerKey] {
    try customer.due(by: now, in: domain, limit: limit)
  }

  func customers(
    of appID: String, withFingerprintOtherThan fingerprint: UInt64, after last: CustomerKey?, limit: Int
  ) throws(StoreError) -> [CustomerKey] {
    try customer.page(of: appID, withFingerprintOtherThan: fingerprint, after: last, limit: limit)
  }

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
}
