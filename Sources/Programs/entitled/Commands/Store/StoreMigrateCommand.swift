internal import ArgumentParser
internal import ClientCommands
internal import CommandSupport
internal import JSON
internal import PostgresStore
internal import Store

/// `entitled store migrate`.
struct StoreMigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Change the tables for this version of the program.",
    discussion: """
      For a store in PostgreSQL; one in SQLite is changed when the service starts. Run it with the new program before \
      the first new replica starts: it adds what the new version needs, and old replicas continue. After the last old \
      replica has ended, run it with --contract: it removes what only they needed. Repeating it changes nothing.
      """)

  @Flag(help: "Remove what only older programs need.") var contract = false
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: JSONOption

  func run() throws {
    guard case .postgres(let settings) = try store.location() else {
      throw Failure("the store is in SQLite: 'entitled serve' changes its tables when it starts", status: 64)
    }
    let (isChanged, status): (Bool, PostgresMigration.Status)
    do {
      let migration = try PostgresMigration(settings)
      isChanged = contract ? try migration.contract() : try migration.expand()
      status = try migration.status()
    } catch let error as StoreError {
      throw Failure(error.description)
    } catch let error as PostgresMigrationError {
      throw Failure(error.description)
    }
    output.show([
      "changed": .bool(isChanged), "schemaVersion": .number(JSONNumber(status.version)),
      "oldestProgram": .number(JSONNumber(status.oldest)),
      "replicas": .array(
        status.replicas.map { .string("\($0.name) \($0.program) schema \($0.schemaVersion)") }),
    ])
  }
}
