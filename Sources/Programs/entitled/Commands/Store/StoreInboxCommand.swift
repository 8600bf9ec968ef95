internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import Foundation
internal import JSON
internal import PostgresStore
internal import Store

/// `entitled store inbox`.
struct StoreInboxCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inbox", abstract: "List or remove entries that no leader has executed.",
    discussion: """
      For a store in PostgreSQL; works beside running replicas. Lists the oldest 100 entries. One that the database \
      refuses waits for a program that can store it. Its sender does not repeat it: remove it only if you do \
      without it. With --json, --remove prints its body in Base64.
      """)

  @Option(help: ArgumentHelp("Entry to remove.", valueName: "id")) var remove: Int64?
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: JSONOption

  func run() throws {
    guard case .postgres(let settings) = try store.location() else {
      throw Failure("the store is in SQLite: it has no inbox", status: 64)
    }
    do throws(StoreError) {
      let waiting = try WaitingEntries(settings)
      if let remove {
        guard let removed = try waiting.remove(remove) else { throw .failed("no entry \(remove) waits") }
        show(removed)
      } else {
        show(try waiting.oldest())
      }
    } catch {
      throw Failure(error.description)
    }
  }

  private func show(_ entries: [WaitingEntries.Entry]) {
    guard !output.json else {
      return output.show(["entries": .array(entries.map { .object(Self.object($0)) })])
    }
    print(entries.isEmpty ? "no entries" : Table.aligned(entries.map { ("\($0.id)", Self.line($0)) }))
  }

  private func show(_ removed: WaitingEntries.Entry) {
    guard !output.json else {
      var object = Self.object(removed)
      object["body"] = .string(Data(removed.body).base64EncodedString())
      return output.show(["removed": .object(object)])
    }
    print("removed: \(removed.id) \(Self.line(removed))")
  }

  private static func line(_ entry: WaitingEntries.Entry) -> String {
    "\(entry.kind) \(entry.method) \(entry.receivedAt) \(entry.body.count) bytes"
  }

  private static func object(_ entry: WaitingEntries.Entry) -> JSONObject {
    [
      "id": .number(JSONNumber(entry.id)), "kind": .string(entry.kind), "method": .string(entry.method),
      "receivedAt": .string(entry.receivedAt), "bytes": .number(JSONNumber(Int64(entry.body.count))),
    ]
  }
}
