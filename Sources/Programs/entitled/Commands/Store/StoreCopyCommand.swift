internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Foundation
internal import JSON
internal import PostgreSQL
internal import PostgresStore
internal import SQLStore
internal import SQLiteStore
internal import Store

/// `entitled store copy`.
struct StoreCopyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "copy", abstract: "Copy a store to SQLite or PostgreSQL.",
    discussion: """
      Requires a stopped service and an empty target. Copies all rows of one snapshot, reads the target again, and \
      compares each table and the state hash before the target becomes a store; an interrupted copy leaves none, and \
      can be repeated. Keys and the list of erasures stay in the data directory: move them with it.
      """)

  @Argument(help: "Store to copy: sqlite:DIRECTORY or postgres://USER@HOST/DATABASE.") var source: String
  @Argument(help: "New store: sqlite:DIRECTORY or postgres://USER@HOST/DATABASE.") var target: String
  @OptionGroup var output: JSONOption

  func run() async throws {
    let from = try StoreLocation(address: source, option: "the source", data: "")
    let to = try StoreLocation(address: target, option: "the target", data: "")
    let begin = ContinuousClock.now
    let progress = ProgressLine()
    let (tables, hash): ([TableContent], StateHash)
    do {
      let source = try StoppedSource(from)
      (tables, hash) = try StoreCopy.run(
        from: from.inspect().connection, to: to.copyTarget(), confirm: source.requireUnchanged,
        report: { part in
          progress.update("copied", part: part)
        })
      await source.close()
    } catch let error as StoreError {
      throw Failure(error.description)
    }
    progress.finish()
    show(tables, hash, duration: ContinuousClock.now - begin)
  }

  private func show(_ tables: [TableContent], _ hash: StateHash, duration: Duration) {
    let rows = tables.map(\.rows).reduce(0, +)
    let milliseconds =
      duration.components.seconds * 1000 + duration.components.attoseconds / 1_000_000_000_000_000
    guard output.json else {
      print("copied and compared: \(rows) rows in \(milliseconds) ms")
      print("state hash: \(hash)")
      return
    }
    output.show([
      "rows": .number(JSONNumber(Int64(rows))),
      "tables": .object(
        JSONObject(tables.map { ($0.table, .number(JSONNumber(Int64($0.rows)))) })),
      "stateHash": .string("\(hash)"), "milliseconds": .number(JSONNumber(milliseconds)),
    ])
  }
}

/// A source to which no service writes, and which has executed all that it has accepted: both would be missing in the copy.
private enum StoppedSource {
  /// A directory, whose store is locked.
  case directory(SQLiteEntitlementStore)
  /// A database. Nothing locks it, so a service may start during the copy.
  case postgres(PostgresSettings, PostgresMigration.Status)

  init(_ location: StoreLocation) throws {
    switch location {
    case .directory(let directory): self = .directory(try Startup.existingStore(in: directory))
    case .postgres(let settings):
      let status = try PostgresMigration(settings).status()
      try status.requireNoReplicas()
      guard status.waitingEntries == 0 else {
        throw Failure(
          "the inbox has entries that no leader has executed: \(status.waitingEntries); start one replica, and stop it "
            + "when entitled_inbox_entries is 0")
      }
      self = .postgres(settings, status)
    }
  }

  /// Throws if a service has used the source since.
  func requireUnchanged() throws(StoreError) {
    guard case .postgres(let settings, let status) = self else { return }
    guard try PostgresMigration(settings).status() == status else {
      throw .failed("a service has used the source during the copy; stop it, and copy again")
    }
  }

  /// Unlocks a directory.
  func close() async {
    if case .directory(let store) = self { await store.close() }
  }
}

extension StoreLocation {
  /// The target of a copy, which must be empty.
  fileprivate func copyTarget() throws(StoreError) -> any StoreCopyTarget {
    switch self {
    case .directory(let directory): try SQLiteCopyTarget(directory: directory)
    case .postgres(let settings): try PostgresCopyTarget(settings)
    }
  }
}
