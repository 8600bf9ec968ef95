package import AppStore

/// Keeps when Apple is to be asked how a subscription stands, because nobody may tell.
package protocol PollStore {
  /// When Apple was last asked about a line because its time had come; `nil` if never.
  func lastPoll(of line: LineKey) throws(StoreError) -> Instant?

  /// Remembers when Apple is to be asked about a line next; `nil`: nothing about it is open.
  func schedulePoll(of line: LineKey, at moment: Instant?) throws(StoreError)

  /// Remembers when Apple is to be asked about a line next: what `next` answers, given when it was last asked.
  func reschedulePoll(of line: LineKey, _ next: (_ askedAt: Instant?) -> Instant?) throws(StoreError)

  /// Remembers that Apple was asked about a line. It stays scheduled as it is.
  ///
  /// - Returns: whether it is scheduled; if not, nothing is remembered.
  @discardableResult
  func recordPoll(of line: LineKey, at moment: Instant) throws(StoreError) -> Bool
}

/// Reads the schedule that ``PollStore`` keeps.
package protocol PollReader {
  /// At most `limit` lines of an app about which Apple is to be asked by `moment`, those that wait longest
  /// first.
  func duePolls(
    of appID: String, in environment: Environment, by moment: Instant, limit: Int
  ) throws(StoreError) -> [LineKey]

  /// When the next poll of an app is due; `nil` if there is none.
  func nextPoll(of appID: String, in environment: Environment) throws(StoreError) -> Instant?

  /// How many polls of an app are due by `moment`.
  func pollBacklog(
    of appID: String, in environment: Environment, by moment: Instant
  ) throws(StoreError) -> Int64
}
