internal import ArgumentParser
internal import Configuration
internal import Entitlements
internal import Foundation
internal import Ledger
internal import SQLiteStore
internal import Store

/// `entitled store replay`: does the evidence give what is stored?
struct StoreReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Rebuild everything from evidence and report differences.",
    discussion: """
      Works on a stopped service's data directory, in a temporary store beside it, and changes nothing. \
      Compared is what each document and command led to: facts, whose they are, what waits. \
      Exit status 0 if nothing differs, 3 if something does.
      """)

  @Option(help: "The data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @Option(help: "The configuration: a YAML file. Without one, the demo app's.") var config: String?

  func run() async throws {
    let file = config ?? ServerOption.environment("ENTITLED_CONFIG")
    let catalog = try Startup.configuration(file: file).catalog
    let data = ServerOption.data.value(data)
    let store = try Startup.existingStore(in: data)
    let rebuilt = "\(data)/replay-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: rebuilt) }
    let (count, differences) = try await Self.replay(store, in: rebuilt, catalog)
    await store.close()
    print(
      Table.aligned(
        [("evidence", "\(count)")]
          + differences.map { table in
            let difference =
              table.isNone ? "" : ", \(table.onlyInFirst) only stored, \(table.onlyInSecond) only rebuilt"
            return (table.table, "\(table.rows)\(difference)")
          }))
    guard differences.allSatisfy(\.isNone) else {
      throw Failure("what the evidence gives is not what is stored", status: 3)
    }
    print("no differences")
  }

  private static func replay(
    _ store: SQLiteEntitlementStore, in directory: String, _ catalog: Catalog
  ) async throws -> (Int, [TableDifference]) {
    do throws(StoreError) {
      let target = try SQLiteEntitlementStore(directory: directory)
      let count = try await EvidenceReplay.run(from: store.makeReader(), into: target, catalog: catalog)
      let differences = try store.differences(from: target)
      await target.close()
      return (count, differences)
    } catch {
      throw Failure(error.description)
    }
  }
}

extension TableDifference {
  fileprivate var isNone: Bool { onlyInFirst == 0 && onlyInSecond == 0 }
}
