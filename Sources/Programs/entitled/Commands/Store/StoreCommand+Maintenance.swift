internal import ArgumentParser
internal import Configuration
internal import Foundation
internal import JSON
internal import SQLStore
internal import SQLiteStore
internal import Store

/// `entitled store`: maintenance of the data directory.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Back up, verify, export and maintain the store.",
    subcommands: [
      StoreStatsCommand.self, StoreBackupCommand.self, StoreVerifyCommand.self, StoreVacuumCommand.self,
      StoreReplayCommand.self, StoreExportCommand.self, StoreSeedCommand.self,
    ])
}

/// `entitled store backup`.
struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Back up the store to a new file.",
    discussion: """
      Works while the service runs. The backup is a snapshot; it is checked, and gets its name only after it is \
      complete on the disk. To restore it, stop the service, and copy it to entitled.sqlite in an empty data directory.
      """)

  @Argument(help: "New file.") var path: String
  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @OptionGroup var output: JSONOption

  func run() throws {
    do throws(StoreError) {
      let bytes = try StoreFile(directory: ServerOption.data.value(data)).backUp(to: path)
      output.show(["backup": .string(path), "bytes": .number(JSONNumber(bytes))])
    } catch {
      throw Failure(error.description)
    }
  }
}

/// `entitled store verify`.
struct StoreVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check pages, references and evidence of a store.",
    discussion: """
      Works while the service runs. Exit status 0 if the store is intact, 3 otherwise. The printed state hash is \
      equal for the same evidence in any order, for example in a restored backup. With --replay, which requires \
      a stopped service, it also runs 'entitled store replay'.
      """)

  @Argument(help: "Backup file (default: the store in the data directory).") var path: String?
  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @Option(help: "YAML configuration, for --replay (default: ENTITLED_CONFIG, or the demo).") var config:
    String?
  @Flag(help: "Rebuild all data from evidence, too.") var replay = false
  @OptionGroup var output: JSONOption

  func validate() throws {
    if replay, path != nil { throw ValidationError("--replay requires a data directory, not a backup") }
  }

  func run() async throws {
    let (faults, statistics, hash): ([String], StoreStatistics, StateHash?)
    do throws(StoreError) {
      let directory = ServerOption.data.value(data)
      let file = if let path { try StoreFile(path: path) } else { try StoreFile(directory: directory) }
      let progress = ProgressLine()
      faults = try file.faults { progress.update("\($0) pieces of evidence verified") }
      progress.finish()
      statistics = try file.statistics()
      hash = faults.isEmpty ? try file.stateHash() : nil
    } catch {
      throw Failure(error.description)
    }
    show(faults, evidence: statistics.counts.evidence, hash)
    guard faults.isEmpty else { throw Failure("the store is damaged", status: 3) }
    guard replay else { return }
    var command = StoreReplayCommand()
    command.data = data
    command.config = config
    command.output = output
    try await command.run()
  }

  private func show(_ faults: [String], evidence: Int64, _ hash: StateHash?) {
    if output.json {
      var result: JSONObject = ["intact": .bool(faults.isEmpty), "evidence": .number(JSONNumber(evidence))]
      result["faults"] = .array(faults.map(JSONValue.string))
      if let hash { result["stateHash"] = .string("\(hash)") }
      return output.show(result)
    }
    for fault in faults { print(fault) }
    guard faults.isEmpty else { return }
    print("intact, evidence: \(evidence)")
    if let hash { print("state hash: \(hash)") }
  }
}

/// `entitled store vacuum`.
struct StoreVacuumCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vacuum", abstract: "Release unused disk space.",
    discussion: "Requires a stopped service, and free disk space of the size of the store.")

  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @OptionGroup var output: JSONOption

  func run() async throws {
    let store = try Startup.existingStore(in: ServerOption.data.value(data))
    let outcome: VacuumOutcome
    do throws(StoreError) { outcome = try store.vacuum() } catch { throw Failure(error.description) }
    await store.close()
    output.show([
      "bytesBefore": .number(JSONNumber(outcome.bytesBefore)),
      "bytesAfter": .number(JSONNumber(outcome.bytesAfter)),
    ])
  }
}

/// `entitled store stats`.
struct StoreStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Show the numbers of rows and bytes in the store.")

  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @OptionGroup var output: JSONOption

  func run() throws {
    let statistics: StoreStatistics
    do throws(StoreError) {
      statistics = try StoreFile(directory: ServerOption.data.value(data)).statistics()
    } catch {
      throw Failure(error.description)
    }
    let counts = statistics.counts
    let members: [(String, Int64)] = [
      ("customers", counts.customers), ("transactions", counts.transactions),
      ("renewals", counts.renewals), ("evidence", counts.evidence),
      ("rejectedEvidence", counts.rejectedEvidence),
      ("evidenceWithoutBody", Int64(statistics.purgedBodies)),
      ("receivedBytes", statistics.originalBytes), ("storedBytes", statistics.storedBytes),
      ("events", counts.events), ("fileBytes", statistics.fileBytes),
      ("unusedFileBytes", statistics.freeBytes), ("schemaVersion", Int64(statistics.schemaVersion)),
    ]
    output.show(JSONObject(members.map { ($0.0, .number(JSONNumber($0.1))) }))
  }
}
