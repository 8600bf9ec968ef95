internal import AppStore
package import Enquiry
package import Ledger
package import Store

/// Sees to it that what Apple did not deliver becomes known, for all apps for which Apple can be asked.
package struct FollowUps: Sendable {
  /// What each of them uses.
  struct Parts: Sendable {
    let store: any EntitlementStore
    let ledger: EvidenceLedger
    let inbox: NotificationInbox
    let enquiry: PurchaseEnquiry
    let catalog: CurrentCatalog
    let rhythm: DeliveryRhythm
    let clock: ServiceClock
  }

  private let followUps: [DeliveryRhythm.Place: FollowUp]
  private let store: any EntitlementStore
  private let clock: ServiceClock

  /// One for each place where `enquiry` has a client. `policies` are those of the apps by the operator's names
  /// for them; what is not there is done.
  package init(
    store: any EntitlementStore, ledger: EvidenceLedger, inbox: NotificationInbox, enquiry: PurchaseEnquiry,
    catalog: CurrentCatalog, rhythm: DeliveryRhythm, policies: [String: FollowUpPolicy], clock: ServiceClock
  ) {
    let parts = Parts(
      store: store, ledger: ledger, inbox: inbox, enquiry: enquiry, catalog: catalog, rhythm: rhythm,
      clock: clock)
    var followUps: [DeliveryRhythm.Place: FollowUp] = [:]
    for (appID, environment) in enquiry.places {
      let place = DeliveryRhythm.Place(appID: appID, environment: environment)
      followUps[place] = FollowUp(place, policies[appID] ?? FollowUpPolicy(), parts)
    }
    self.followUps = followUps
    self.store = store
    self.clock = clock
  }

  /// Goes on until the task is cancelled. `report` is told what went wrong; it is tried again later.
  package func run(report: @escaping @Sendable (String) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      for followUp in followUps.values { group.addTask { await followUp.run(report: report) } }
      await group.waitForAll()
    }
  }

  /// Begins a repair by hand and waits for it, for so long as `patience` says; `nil`: to its end, or until it
  /// has to wait for Apple.
  ///
  /// - Returns: the repair as it is then, and how many customers its report is about. Whether somebody waits or
  ///   not, it goes on.
  /// - Throws: ``EnquiryError/noKey(appID:environment:)``; ``EnquiryError/ledger(_:)``.
  package func repair(
    _ repair: Repair, patience: Duration?
  ) async throws(EnquiryError) -> (Repair, drifted: Int64) {
    let place = DeliveryRhythm.Place(appID: repair.appID, environment: repair.environment)
    guard let followUp = followUps[place] else {
      throw .noKey(appID: repair.appID, environment: repair.environment)
    }
    do throws(StoreError) {
      let rests = await followUp.rests()
      let begun = try await followUp.begin(repair)
      let reader = try store.makeReader()
      var latest = begun
      let deadline = patience.map { ContinuousClock.now + $0 }
      while latest.finishedAt == nil, latest.problem.isEmpty, await Self.next(rests, by: deadline) {
        latest = try reader.repair(begun.id, of: begun.appID) ?? begun
        reader.endTurn()
      }
      defer { reader.endTurn() }
      return (latest, try reader.driftedCustomers(of: latest))
    } catch {
      throw .ledger(.store(error))
    }
  }

  /// Waits for the next element; `false` if there is none by the deadline.
  private static func next(_ stream: AsyncStream<Void>, by deadline: ContinuousClock.Instant?) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await _ in stream { return true }
        return false
      }
      if let deadline {
        group.addTask {
          try? await Task.sleep(until: deadline)
          return false
        }
      }
      let isThere = await group.next() ?? false
      group.cancelAll()
      return isThere
    }
  }
}
