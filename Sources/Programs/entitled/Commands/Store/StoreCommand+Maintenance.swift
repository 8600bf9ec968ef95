internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import JSON
internal import SQLStore
internal import SQLiteStore
internal import Store

/// `entitled store`: maintenance of the store.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Back up, verify, copy and maintain the store.",
    subcommands: [
      StoreStatsCommand.self, StoreBackupCommand.self, StoreVerifyCommand.self, StoreVacuumCommand.self,
      StoreReplayCommand.self, StoreRebuildReportsCommand.self, StoreExportCommand.self,
      StoreCopyCommand.self,
      StoreMigrateCommand.self, StoreInboxCommand.self, StoreSeedCommand.self,
    ])
}

/// `entitled store backup`.
struct StoreBackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup", abstract: "Back up the store to a new file.",
    discussion: """
      Works while the service runs. The backup is a snapshot; it is checked, and gets its name only after it is \
      complete on the disk. A store in PostgreSQL is backed up by PostgreSQL's tools. To restore a \
      backup, stop the service, move entitled.sqlite, entitled.sqlite-wal and entitled.sqlite-shm out of the data \
      directory, and copy the backup there as entitled.sqlite. Leave the other files: with entitled.key and \
      entitled.erasures the service erases again the customers that were erased since the backup.
      """)

  @Argument(help: "New file.") var path: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: JSONOption

  func run() throws {
    let directory = try store.location().directory(
      else: "use pg_dump, or base backups with an archive of the write-ahead log")
    do throws(StoreError) {
      let progress = ProgressLine()
      let bytes = try StoreFile(directory: directory).backUp(to: path) { part in
        progress.update("copied", part: part)
      }
      progress.finish()
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
      equal for the same evidence in any order, for example in a restored backup. With --replay it also runs \
      'entitled store replay'. The pages of a store in PostgreSQL are checked by its checksums and pg_amcheck.
      """)

  @Argument(help: "Backup file (default: the store in the data directory).") var path: String?
  @OptionGroup var store: StoreOptions
  @Flag(help: "Rebuild all data from evidence, too.") var replay = false
  @OptionGroup var output: JSONOption

  func validate() throws {
    if replay, path != nil { throw ValidationError("--replay requires a data directory, not a backup") }
  }

  func run() async throws {
    let location = try path == nil ? store.location() : nil
    let (faults, evidence, hash): ([String], Int64, StateHash?)
    do throws(StoreError) {
      let inspected = try Self.open(location, path)
      let progress = ProgressLine()
      // A damaged store may not be counted; its faults come first.
      let total = try? inspected.makeSnapshot().counts().evidence
      faults = try inspected.faults { progress.update("evidence verified", $0, of: total) }
      progress.finish()
      evidence = if let total { total } else { try inspected.makeSnapshot().counts().evidence }
      hash = faults.isEmpty ? try inspected.stateHash() : nil
    } catch {
      throw Failure(error.description)
    }
    show(faults, evidence: evidence, hash)
    guard faults.isEmpty else { throw Failure("the store is damaged", status: 3) }
    guard replay else { return }
    var command = StoreReplayCommand()
    command.store = store
    command.output = output
    try await command.run()
  }

  /// Opens the store at `location`, or the backup at `path`.
  private static func open(
    _ location: StoreLocation?, _ path: String?
  ) throws(StoreError) -> any InspectedStore {
    if let location { return try location.inspect() }
    return try StoreFile(path: path ?? "")
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
    discussion: "Requires a stopped service, SQLite, and free disk space of the size of the store.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: JSONOption

  func run() async throws {
    let directory = try store.location().directory(
      else: "autovacuum makes space available to new rows, and VACUUM FULL returns it to the disk")
    let open = try Startup.existingStore(in: directory)
    let outcome: VacuumOutcome
    do {
      // SQLite reports no progress of a vacuum.
      outcome = try await ProgressLine.during {
        try open.vacuum()
      } show: { elapsed in
        "releasing unused space, \(elapsed.components.seconds) s"
      }
    } catch let error as StoreError {
      throw Failure(error.description)
    }
    await open.close()
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
    abstract: "Show the numbers of rows and bytes in the store.",
    discussion: "Works while the service runs.")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: JSONOption

  func run() throws {
    let location = try store.location()
    let statistics: StoreStatistics
    do throws(StoreError) {
      statistics = try location.inspect().statistics()
    } catch {
      throw Failure(error.description)
    }
    let counts = statistics.counts
    let members: [(String, Int64?)] = [
      ("customers", counts.customers), ("transactions", counts.transactions),
      ("renewals", counts.renewals), ("evidence", counts.evidence),
      ("rejectedEvidence", counts.rejectedEvidence),
      ("evidenceWithoutBody", statistics.purgedBodies),
      ("receivedBytes", statistics.originalBytes), ("storedBytes", statistics.storedBytes),
      ("events", counts.events), ("databaseBytes", statistics.databaseBytes),
      ("unusedBytes", statistics.unusedBytes), ("schemaVersion", Int64(statistics.schemaVersion)),
    ]
    output.show(
      JSONObject(members.compactMap { member in member.1.map { (member.0, .number(JSONNumber($0))) } }))
  }
}
