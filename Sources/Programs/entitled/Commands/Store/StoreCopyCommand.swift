internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Foundation
internal import JSON
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
      let stopped = try from.requireStopped()
      (tables, hash) = try StoreCopy.run(
        from: from.inspect().connection, to: to.copyTarget(),
        report: { part in
          progress.update("copied", part: part)
        })
      await stopped?.close()
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

extension StoreLocation {
  /// Makes sure that no service writes to the store, nor has accepted what it did not execute: both would be missing in
  /// the copy.
  ///
  /// - Returns: the locked store in a directory.
  fileprivate func requireStopped() throws -> SQLiteEntitlementStore? {
    switch self {
    case .directory(let directory): return try Startup.existingStore(in: directory)
    case .postgres(let settings):
      let status = try PostgresMigration(settings).status()
      try status.requireNoReplicas()
      guard status.waitingEntries == 0 else {
        throw Failure(
          "the inbox has entries that no leader has executed: \(status.waitingEntries); start one replica, and stop it "
            + "when entitled_inbox_entries is 0")
      }
      return nil
    }
  }

  /// The target of a copy, which must be empty.
  fileprivate func copyTarget() throws(StoreError) -> any StoreCopyTarget {
    switch self {
    case .directory(let directory): try SQLiteCopyTarget(directory: directory)
    case .postgres(let settings): try PostgresCopyTarget(settings)
    }
  }
}
