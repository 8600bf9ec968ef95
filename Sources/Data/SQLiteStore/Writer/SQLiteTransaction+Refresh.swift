internal import AppStore
internal import SQLite
internal import Store

// About what Apple is still to be asked.
extension SQLiteTransaction {
  func put(_ refresh: PendingRefresh) throws(StoreError) { try self.refresh.put(refresh) }

  func settleRefreshes(of lines: [LineKey], at moment: Instant) throws(StoreError) {
    for line in lines { try refresh.settle(line, at: moment) }
  }

  func refreshes(dueBy moment: Instant, limit: Int) throws(StoreError) -> [PendingRefresh] {
    try refresh.due(by: moment, limit: limit)
  }

  func lastRefresh(of line: LineKey) throws(StoreError) -> Instant? { try refresh.last(of: line) }
}
