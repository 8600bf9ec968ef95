internal import ArgumentParser
internal import Configuration
internal import Foundation
internal import SQLiteStore
internal import Store

/// `entitled store backup`: a copy of what is remembered, also while the service runs.
struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Copy what a running or stopped service remembers to a new file.",
    discussion: """
      The copy is the store at one moment. It is checked, and appears under its name only when all of it is on the \
      disk. To restore it, stop the service, and put it as entitled.sqlite into an empty data directory.
      """)

  @Argument(help: "The file to make.") var path: String
  @Option(help: "The data directory (default: \(ServerOption.data.fallback)).") var data: String?

  func run() throws {
    do throws(StoreError) {
      let bytes = try StoreFile(directory: ServerOption.data.value(data)).backUp(to: path)
      print(Table.aligned([("backup", path), ("bytes", "\(bytes)")]))
    } catch {
      throw Failure(error.description)
    }
  }
}

/// `entitled store verify`: is what is stored what was written?
struct StoreVerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check a store or a backup: pages, references, and every piece of evidence.",
    discussion: """
      Works beside a running service. Exit status 0 if nothing is wrong, 3 if something is. With --replay, on a \
      stopped service's data directory, it also compares what is stored with what the evidence gives, as \
      'entitled store replay' does.
      """)

  @Argument(help: "A backup; without it, the data directory's store.") var path: String?
  @Option(help: "The data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @Option(help: "The configuration, for --replay.") var config: String?
  @Flag(help: "Rebuild everything from evidence too.") var replay = false

  func validate() throws {
    if replay, path != nil { throw ValidationError("--replay is about a data directory, not a backup") }
  }

  func run() async throws {
    let (faults, statistics): ([String], StoreStatistics)
    do throws(StoreError) {
      let directory = ServerOption.data.value(data)
      let file = if let path { try StoreFile(path: path) } else { try StoreFile(directory: directory) }
      faults = try file.faults()
      statistics = try file.statistics()
    } catch {
      throw Failure(error.description)
    }
    for fault in faults { print(fault) }
    guard faults.isEmpty else { throw Failure("the store is damaged", status: 3) }
    print("sound, with \(statistics.counts.evidence) pieces of evidence")
    guard replay else { return }
    var command = StoreReplayCommand()
    command.data = data
    command.config = config
    try await command.run()
  }
}

/// `entitled store vacuum`: unused space goes back to the disk.
struct StoreVacuumCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "vacuum", abstract: "Pack what an older version kept, and give back unused space.",
    discussion: "Works on a stopped service's data directory, and needs as much space again while it does.")

  @Option(help: "The data directory (default: \(ServerOption.data.fallback)).") var data: String?

  func run() async throws {
    let store = try Startup.existingStore(in: ServerOption.data.value(data))
    let outcome: VacuumOutcome
    do throws(StoreError) { outcome = try store.vacuum() } catch { throw Failure(error.description) }
    await store.close()
    print(
      Table.aligned([
        ("bytes before", "\(outcome.bytesBefore)"), ("bytes after", "\(outcome.bytesAfter)"),
        ("bodies packed", "\(outcome.packedBodies)"),
      ]))
  }
}

/// `entitled store stats`: how much there is.
struct StoreStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "CounterCell what a running or stopped service remembers, and what it takes.")

  @Option(help: "The data directory (default: \(ServerOption.data.fallback)).") var data: String?

  func run() throws {
    let found: StoreStatistics
    do throws(StoreError) {
      found = try StoreFile(directory: ServerOption.data.value(data)).statistics()
    } catch {
      throw Failure(error.description)
    }
    let counts = found.counts
    print(
      Table.aligned([
        ("customers", "\(counts.customers)"), ("transactions", "\(counts.transactions)"),
        ("renewals", "\(counts.renewals)"), ("evidence", "\(counts.evidence)"),
        ("of it rejected", "\(counts.rejectedEvidence)"), ("of it without body", "\(found.forgottenBodies)"),
        ("bytes that arrived", "\(found.arrivedBytes)"), ("bytes kept of them", "\(found.keptBytes)"),
        ("events", "\(counts.events)"), ("file bytes", "\(found.fileBytes)"),
        ("of them unused", "\(found.freeBytes)"), ("schema version", "\(found.schemaVersion)"),
      ]))
  }
}
