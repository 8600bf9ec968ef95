internal import Store

/// The entries of the inbox that are executed now.
struct RunningEntries: Sendable {
  /// The number of entries that may wait for Apple from which on no further one is taken. Apple's limits allow some calls a
  /// second, and a response can take half a minute: without it they would hold up all other entries.
  static let maxWaitingForApple = 128

  /// Of HTTP requests, receipts are looked up, and notifications may be confirmed or their certificates checked online.
  private static let kindsThatCallApple: Set<InboxKind> = [.request]

  private var ids: Set<Int64> = []
  private var waitingForApple: Set<Int64> = []

  var count: Int { ids.count }

  mutating func insert(_ entries: [InboxEntry]) {
    for entry in entries {
      ids.insert(entry.id)
      if Self.kindsThatCallApple.contains(entry.kind) || CallForwarder.callsApple.contains(entry.method) {
        waitingForApple.insert(entry.id)
      }
    }
  }

  mutating func remove(_ id: Int64) {
    ids.remove(id)
    waitingForApple.remove(id)
  }

  /// The entries that are not taken now: these and `others`, and all that may wait for Apple while many of these do.
  func exclusion(with others: Set<Int64>) -> InboxExclusion {
    guard waitingForApple.count >= Self.maxWaitingForApple else {
      return InboxExclusion(ids: ids.union(others))
    }
    return InboxExclusion(
      ids: ids.union(others), kinds: Self.kindsThatCallApple, methods: CallForwarder.callsApple)
  }
}
