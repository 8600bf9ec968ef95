internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Configuration
internal import Entitlements
internal import JSON
internal import Ledger
internal import PostgresStore
internal import Reporting
internal import Store

/// `entitled store rebuild-reports`.
struct StoreRebuildReportsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rebuild-reports", abstract: "Derive the postings of all reports again.",
    discussion: """
      Requires a stopped service. Deletes the postings and their sums, and derives them again from the evidence \
      with the present configuration. Closed days keep the instants at which they closed, so the answers are the \
      same unless the rules or the configuration changed. That configuration must have all apps of the store. The \
      new postings have new numbers: export them into a new directory. After an interruption run it again.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: JSONOption

  func run() async throws {
    let file = store.config ?? ServerOption.environment("ENTITLED_CONFIG")
    let catalog = try Startup.configuration(file: file).catalog
    let location = try store.location()
    do {
      let open = try Self.open(location)
      try await Self.requireAllApps(of: open, in: catalog)
      let reports = ReportLedger(
        store: open, catalog: CurrentCatalog(catalog), clock: ServiceClock(now: SystemClock.now))
      try await ProgressLine.during {
        try await reports.rebuild()
      } show: { elapsed in
        "deriving postings, \(elapsed.components.seconds) s"
      }
      await open.close()
    } catch let error as StoreError {
      throw Failure(error.description)
    }
    output.show(["apps": .array(catalog.appIDs.map(JSONValue.string))])
  }

  /// Opens a store that no service uses.
  private static func open(_ location: StoreLocation) throws -> any EntitlementStore {
    switch location {
    case .directory(let directory): return try Startup.existingStore(in: directory)
    case .postgres(let settings):
      try PostgresMigration(settings).status().requireNoReplicas()
      return try PostgresEntitlementStore(settings)
    }
  }

  /// Stops before anything is changed if the store has evidence of an app that is not in the catalog, because the reports
  /// of such an app would silently stay as they are.
  private static func requireAllApps(of store: any EntitlementStore, in catalog: Catalog) async throws {
    let apps = try await store.read { reader throws(StoreError) in try reader.appsWithEvidence() }
    let missing = apps.filter { catalog[$0] == nil }
    guard missing.isEmpty else {
      await store.close()
      throw Failure(
        "the store has documents of apps that the configuration lacks: \(missing.joined(separator: ", ")); "
          + "set --config to the configuration of the service")
    }
  }
}
