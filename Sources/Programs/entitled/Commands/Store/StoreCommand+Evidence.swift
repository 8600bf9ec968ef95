internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Glibc
internal import JSON
internal import Ledger
internal import Platform
internal import SQLStore
internal import SQLiteStore
internal import Store

/// `entitled store replay`.
struct StoreReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Rebuild all data from evidence and report differences.",
    discussion: """
      Requires a stopped service, unless the store is in PostgreSQL. Rebuilds facts, links and queues in a temporary \
      store in the data directory and compares them with the stored ones. Changes nothing. Exit status 0 if nothing differs, 3 otherwise. The state \
      hash is equal for the same evidence in any order.
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: JSONOption

  func run() async throws {
    let file = store.config ?? ServerOption.environment("ENTITLED_CONFIG")
    let catalog = try Startup.configuration(file: file).catalog
    let location = try store.location()
    // The lock of the directory; a database has a snapshot.
    let locked: SQLiteEntitlementStore? =
      if case .directory(let directory) = location { try Startup.existingStore(in: directory) } else { nil }
    let rebuilt = "\(store.directory)/replay-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: rebuilt) }
    let outcome = try await Self.replay(location, in: rebuilt, catalog)
    await locked?.close()
    let differences = outcome.differences
    let isEqual = differences.allSatisfy(\.isEmpty)
    guard !output.json else {
      output.show(outcome.json)
      if !isEqual { throw ExitCode(3) }
      return
    }
    let rows = differences.map { table in
      let difference =
        table.isEmpty ? "" : ", \(table.onlyInFirst) only stored, \(table.onlyInSecond) only rebuilt"
      return (table.table, "\(table.rows)\(difference)")
    }
    var hashes = [("state hash", "\(outcome.stored)")]
    if outcome.rebuilt != outcome.stored { hashes.append(("rebuilt state hash", "\(outcome.rebuilt)")) }
    print(Table.aligned([("evidence", "\(outcome.count)")] + rows + hashes))
    guard isEqual else {
      throw Failure("the stored data differs from the data rebuilt from evidence", status: 3)
    }
    print("no differences")
  }

  /// The comparison of the stored data with the rebuilt data.
  private struct Outcome {
    /// The number of pieces of evidence.
    let count: Int
    let differences: [TableDifference]
    let stored: StateHash
    let rebuilt: StateHash

    var json: JSONObject {
      let tables = differences.map { table -> JSONValue in
        .object([
          "table": .string(table.table), "rows": .number(JSONNumber(Int64(table.rows))),
          "onlyStored": .number(JSONNumber(Int64(table.onlyInFirst))),
          "onlyRebuilt": .number(JSONNumber(Int64(table.onlyInSecond))),
        ])
      }
      return [
        "evidence": .number(JSONNumber(Int64(count))), "tables": .array(tables),
        "stateHash": .string("\(stored)"),
        "rebuiltStateHash": .string("\(rebuilt)"),
      ]
    }
  }

  /// Rebuilds the data in a new store in `directory`, and compares table by table.
  private static func replay(
    _ location: StoreLocation, in directory: String, _ catalog: Catalog
  ) async throws -> Outcome {
    do throws(StoreError) {
      let store = try location.inspect()
      let snapshot = try store.makeSnapshot()
      let target = try SQLiteEntitlementStore(directory: directory)
      let progress = ProgressLine()
      let total = try snapshot.counts().evidence
      let count = try await EvidenceReplay.run(
        into: target, catalog: catalog, report: { progress.update("evidence replayed", $0, of: total) },
        pages: { (last, limit) throws(StoreError) in try snapshot.evidence(after: last, limit: limit) })
      progress.finish()
      let outcome = Outcome(
        count: count, differences: try store.differences(from: target), stored: try store.stateHash(),
        rebuilt: try target.stateHash())
      await target.close()
      return outcome
    } catch {
      throw Failure(error.description)
    }
  }
}

extension TableDifference {
  fileprivate var isEmpty: Bool { onlyInFirst == 0 && onlyInSecond == 0 }
}

/// `entitled store export`.
struct StoreExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Export the store as JSON lines.",
    discussion: """
      Reads one snapshot of the store of a running or stopped service, and changes nothing. The lines \
      contain documents and commands byte for byte, notifications, customers and events; docs/migration.md \
      describes them. The export contains customer ids and purchases: protect it like the data directory.
      """)

  @OptionGroup var store: StoreOptions
  @Option(help: "New file with mode 0600, or - for the standard output.") var output = "-"
  @Flag(help: "JSON output (always).") var json = false

  func run() async throws {
    let location = try store.location()
    let out = try Self.open(output)
    var buffer: [UInt8] = []
    let progress = ProgressLine()
    defer { progress.finish() }
    func flush() throws {
      do { try out.write(contentsOf: buffer) } catch {
        throw Failure("cannot write '\(output)': \(error.localizedDescription)")
      }
      buffer.removeAll(keepingCapacity: true)
    }
    do {
      let inspected = try location.inspect()
      try StoreExport.run(inspected.makeSnapshot(), at: SystemClock.now()) { line, part in
        buffer += line.serialized()
        buffer.append(UInt8(ascii: "\n"))
        progress.update("exported", part: part)
        if buffer.count >= Self.blockSize { try flush() }
      }
    } catch let error as StoreError {
      throw Failure(error.description)
    }
    try flush()
  }

  /// In bytes.
  private static let blockSize = 1 << 20

  /// Creates the file for this user alone; an existing one is not overwritten.
  private static func open(_ path: String) throws -> FileHandle {
    guard path != "-" else { return .standardOutput }
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Failure("cannot create '\(path)': \(SystemError.last)") }
    return FileHandle(fileDescriptor: file, closeOnDealloc: true)
  }
}
