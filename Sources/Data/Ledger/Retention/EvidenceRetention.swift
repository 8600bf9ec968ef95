package import AppStore
package import Store

/// Lets go of the bodies of old evidence, as the operator's policy says. What followed from them stays, and
/// so do their hashes; only a replay can no longer read them.
package struct EvidenceRetention: Sendable {
  /// Which bodies may go, and when.
  package struct Rule: Hashable, Sendable {
    package let selection: EvidenceSelection
    package let days: Int

    /// Those bodies, after that many days.
    package init(_ selection: EvidenceSelection, days: Int) {
      self.selection = selection
      self.days = days
    }
  }

  private static let pageSize = 500
  private static let day: Int64 = 86_400_000

  private let store: any EntitlementStore
  private let rules: [Rule]
  private let now: @Sendable () -> Instant
  private let report: @Sendable (String) -> Void
  private let sleep: @Sendable (Duration) async throws -> Void

  /// `report` is told how many bodies went, and what went wrong; it is tried again the next day, which
  /// comes when `sleep` returns.
  package init(
    _ rules: [Rule], store: any EntitlementStore, now: @escaping @Sendable () -> Instant,
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) },
    report: @escaping @Sendable (String) -> Void
  ) {
    self.rules = rules
    self.store = store
    self.now = now
    self.report = report
    self.sleep = sleep
  }

  /// Applies the rules once a day until the task is cancelled.
  package func run() async {
    guard !rules.isEmpty else { return }
    repeat {
      do throws(StoreError) {
        let count = try await apply()
        if count > 0 { report("forgot the bodies of \(count) pieces of evidence") }
      } catch {
        report("bodies of old evidence could not be forgotten: \(error)")
      }
    } while (try? await sleep(.milliseconds(Self.day))) != nil
  }

  /// Applies all rules now, a page at a time so that others can write in between; answers how many bodies
  /// went.
  package func apply() async throws(StoreError) -> Int {
    var count = 0
    for rule in rules {
      let moment = now().advanced(byMilliseconds: -Int64(rule.days) * Self.day)
      var last: EvidenceID?
      repeat {
        let start = last
        let page = try await store.write { store throws(StoreError) in
          try store.forgetBodies(
            of: rule.selection, receivedBefore: moment, after: start, limit: Self.pageSize)
        }
        (last, count) = (page.last, count + page.forgotten)
      } while last != nil
    }
    return count
  }
}

extension EvidenceSelection {
  /// What Apple sent by itself.
  package static let notifications = EvidenceSelection.accepted([.notificationV1, .notificationV2])
  /// What apps handed in, and what Apple answered with.
  package static let documents = EvidenceSelection.accepted([
    .signedTransaction, .signedRenewalInfo, .signedAppTransaction,
  ])
  /// What app receipts said, and the receipts themselves where these are kept.
  package static let receipts = EvidenceSelection.accepted([.appReceipt, .receiptStatement])
}
