internal import Store

/// The entries of the inbox that are executed now.
struct RunningEntries: Sendable {
  /// The number of entries that may wait for another host from which on no further one is taken. Apple's limits allow some
  /// calls a second, and a response can take half a minute: without it they would hold up all other entries.
  static let maxWaitingForHosts = 128

  /// Apple confirms a notification of version 1; the contract lists no error for it, because it is stored before.
  private static let ingestNotification = "/entitled.v1.NotificationService/IngestNotification"

  /// The kinds and methods of entries that may wait for another host.
  private let kinds: Set<InboxKind>
  private let methods: Set<String>
  private var keys: Set<InboxKey> = []
  private var waitingForHosts: Set<InboxKey> = []

  var count: Int { keys.count }

  /// `checksOnline`: whether certificates of an app are checked online, which OCSP responders answer.
  init(checksOnline: Bool) {
    // Of HTTP requests, receipts are looked up, and notifications may be confirmed or checked online.
    kinds = checksOnline ? [.request, .notification] : [.request]
    let checked = checksOnline ? CallForwarder.methods(withError: "ONLINE_CHECK_UNAVAILABLE") : []
    methods = CallForwarder.callsApple.union(checked).union([Self.ingestNotification])
  }

  mutating func insert(_ entries: [InboxEntry]) {
    for entry in entries {
      keys.insert(entry.key)
      if kinds.contains(entry.kind) || methods.contains(entry.method) {
        waitingForHosts.insert(entry.key)
      }
    }
  }

  /// Removes an entry whose execution has ended, also one that is postponed.
  mutating func remove(_ key: InboxKey) {
    keys.remove(key)
    waitingForHosts.remove(key)
  }

  /// The entries that are not taken now: these and `others`, and all that may wait for another host while many of these do.
  func exclusion(with others: Set<InboxKey>) -> InboxExclusion {
    guard waitingForHosts.count >= Self.maxWaitingForHosts else {
      return InboxExclusion(keys: keys.union(others))
    }
    return InboxExclusion(keys: keys.union(others), kinds: kinds, methods: methods)
  }
}
