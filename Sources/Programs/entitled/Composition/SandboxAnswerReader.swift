internal import AppStore
internal import Callers
internal import Entitlements
internal import Ledger
package import Store

/// Reads how answers about Apple's sandbox change, for the pages of an embedded one.
///
/// These pages have no sign-in, so it reads nothing if callers are configured.
package struct SandboxAnswerReader: Sendable {
  /// The longest time that a page waits for what the clock changes.
  private static let waitLimit = Duration.seconds(1)
  private static let waitStep = Duration.milliseconds(20)
  /// The number of events that one read examines.
  private static let maxEvents = 1_000

  private let store: any EntitlementStore
  private let callers: CurrentCallers
  private let now: @Sendable () -> Instant

  /// - Parameters:
  ///   - store: the store of the service.
  ///   - callers: the callers of the service.
  ///   - clock: that of the sandbox.
  init(_ store: any EntitlementStore, callers: CurrentCallers, clock: ServiceClock) {
    self.store = store
    self.callers = callers
    now = clock.now
  }

  /// Whether every client may call the service, so that its answers are no secret.
  private var isShown: Bool { callers.value.isOpen }

  /// The sequence of the latest event of an app; `nil` if answers are not shown.
  package func lastSequence(ofApp app: String) async -> Int64? {
    guard isShown else { return nil }
    return try? await store.read { reader throws(StoreError) in try reader.lastSequence(ofApp: app) }
  }

  /// The first `limit` events in Apple's sandbox after a sequence that are about an entitlement. It waits until the service
  /// has followed the clock.
  package func events(ofApp app: String, after sequence: Int64, limit: Int) async -> [StoredEvent] {
    guard isShown else { return [] }
    await waitForExpiry()
    let events = try? await store.read { reader throws(StoreError) in
      try reader.events(ofApp: app, after: sequence, limit: Self.maxEvents)
    }
    let found = (events ?? []).filter { stored in
      stored.event.customer.environment == .sandbox && !stored.event.change.entitlement.isEmpty
    }
    return Array(found.prefix(limit))
  }

  /// Waits until the service has written the changes that time causes, for at most a second.
  private func waitForExpiry() async {
    let end = ContinuousClock.now.advanced(by: Self.waitLimit)
    while ContinuousClock.now < end, !Task.isCancelled {
      let due = try? await store.read { reader throws(StoreError) in try reader.nextDue(in: .sandbox) }
      guard let due, due <= now() else { return }
      try? await Task.sleep(for: Self.waitStep)
    }
  }
}
