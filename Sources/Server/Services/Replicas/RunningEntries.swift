internal import Store

/// The entries of the inbox that are executed now.
struct RunningEntries: Sendable {
  /// The number of entries that may wait for Apple from which on no further one is taken. Apple's limits allow some calls a
  /// second, and a response can take half a minute: without it they would hold up all other entries.
  static let maxWaitingForApple = 128

  /// Of HTTP requests, receipts are looked up, and notifications may be confirmed or their certificates checked online.
  private static let kindsThatCallApple: Set<InboxKind> = [.request]

  private var keys: Set<InboxKey> = []
  private var waitingForApple: Set<InboxKey> = []

  var count: Int { keys.count }

  mutating func insert(_ entries: [InboxEntry]) {
    for entry in entries {
      keys.insert(entry.key)
      if Self.kindsThatCallApple.contains(entry.kind) || CallForwarder.callsApple.contains(entry.method) {
        waitingForApple.insert(entry.key)
      }
    }
  }

  mutating func remove(_ key: InboxKey) {
    keys.remove(key)
    waitingForApple.remove(key)
  }

  /// The entries that are not taken now: these and `others`, and all that may wait for Apple while many of these do.
  func exclusion(with others: Set<InboxKey>) -> InboxExclusion {
    guard waitingForApple.count >= Self.maxWaitingForApple else {
      return InboxExclusion(keys: keys.union(others))
    }
    return InboxExclusion(
      keys: keys.union(others), kinds: Self.kindsThatCallApple, methods: CallForwarder.callsApple)
  }
}
