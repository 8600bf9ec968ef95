internal import AppStore
internal import Entitlements
package import Ledger
internal import Platform
package import Store

/// Exports how many duties towards Apple are open in each configured app and environment, and the earliest deadline.
///
/// It runs at intervals and not after each commit, because it reads all open duties, and their number grows without bound
/// for an operator who settles them by another system.
package struct DeadlineGaugeWorker: Worker {
  package let name: String
  private static let interval = Duration.seconds(10)

  /// The name of the gauge with the number of open duties.
  private let counts: String
  /// The name of the gauge with the earliest deadline, in seconds since 1970; 0 without a duty.
  private let deadlines: String
  private let store: any EntitlementStore
  private let catalog: CurrentCatalog
  private let gauges = ExportedGauges()
  /// Returns the open duties with their earliest deadlines.
  private let read: @Sendable (any StoreSnapshot, Catalog) throws(StoreError) -> [OpenDuties]

  /// A worker for consumption requests that can still be answered.
  package static func consumptionRequests(
    store: any EntitlementStore, catalog: CurrentCatalog
  ) -> DeadlineGaugeWorker {
    DeadlineGaugeWorker(
      name: "open_consumption_requests", counts: "entitled_consumption_requests_open",
      deadlines: "entitled_consumption_request_deadline_seconds", store: store, catalog: catalog
    ) { reader, _ throws(StoreError) in
      try reader.openConsumptionRequests().map { open in
        OpenDuties(
          appID: open.appID, environment: open.environment, count: open.count,
          earliest: open.earliest.advanced(byMilliseconds: ConsumptionRequestRecord.answerTimeout))
      }
    }
  }

  /// A worker for withdrawn consents that are not settled. The deadline counts from the earliest withdrawal, by the
  /// app's policy.
  package static func consentWithdrawals(
    store: any EntitlementStore, catalog: CurrentCatalog
  ) -> DeadlineGaugeWorker {
    DeadlineGaugeWorker(
      name: "consent_withdrawals", counts: "entitled_consent_withdrawals_open",
      deadlines: "entitled_consent_withdrawal_deadline_seconds", store: store, catalog: catalog
    ) { reader, catalog throws(StoreError) in
      try reader.openConsentWithdrawals().compactMap { open in
        catalog[open.appID].map { app in
          OpenDuties(
            appID: open.appID, environment: open.environment, count: open.count,
            earliest: app.settleBy(withdrawnAt: open.earliest))
        }
      }
    }
  }

  /// A worker for external purchase tokens without a report to Apple.
  package static func externalTokens(
    store: any EntitlementStore, catalog: CurrentCatalog
  ) -> DeadlineGaugeWorker {
    DeadlineGaugeWorker(
      name: "external_tokens", counts: "entitled_external_tokens_unreported",
      deadlines: "entitled_external_token_deadline_seconds", store: store, catalog: catalog
    ) { reader, _ throws(StoreError) in
      try reader.unreportedExternalTokens()
    }
  }

  /// Runs until the task is cancelled.
  ///
  /// - Throws: the first ``StoreError``; the supervisor starts it again.
  package func run() async throws {
    // A replica that no longer leads does not see later changes; the next leader exports the numbers.
    defer { if Task.isCancelled { gauges.clear() } }
    repeat {
      let catalog = catalog.value
      record(
        try await store.read(.background) { [read] reader throws(StoreError) in try read(reader, catalog) },
        catalog)
    } while (try? await Task.sleep(for: Self.interval)) != nil
  }

  /// Records the gauges of each configured app and environment; those of an app that is gone become 0.
  private func record(_ open: [OpenDuties], _ catalog: Catalog) {
    for app in catalog.appIDs.compactMap({ catalog[$0] }) {
      for environment in app.environments {
        let found = open.first { $0.appID == app.id && $0.environment == environment }
        let labels = [(name: "app", value: app.id), (name: "environment", value: environment.rawValue)]
        gauges.record(counts, labels, found?.count ?? 0)
        gauges.record(deadlines, labels, (found?.earliest.millisecondsSince1970 ?? 0) / 1_000)
      }
    }
    gauges.endRound()
  }
}
