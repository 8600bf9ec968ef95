internal import ArgumentParser
internal import CommandSupport
internal import Configuration
internal import Foundation
internal import PostgreSQL
internal import PostgresStore
internal import SQLStore
internal import SQLiteStore
internal import Store

/// The store that a command works on.
struct StoreOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Store: sqlite:DIRECTORY or postgres://USER@HOST/DATABASE (default: --data, or that of 'serve').",
      valueName: "address"))
  var store: String?
  @Option(help: "Data directory (default: \(ServerOption.data.fallback)).") var data: String?
  @Option(help: "YAML configuration (default: ENTITLED_CONFIG, or the demo configuration).") var config:
    String?

  /// The data directory, also of a store that is elsewhere.
  var directory: String { ServerOption.data.value(data) }

  /// The store that the command line names, otherwise the one of `entitled serve` with this environment.
  func location() throws -> StoreLocation {
    if let store { return try StoreLocation(address: store, option: "--store", data: directory) }
    if let config {
      let configured = try Startup.configuration(file: config).store
      if configured != .standard { return StoreLocation(configured, data: directory) }
    }
    if data != nil { return .directory(directory) }
    if let address = ServerOption.environment("ENTITLED_STORE") {
      return try StoreLocation(address: address, option: "ENTITLED_STORE", data: directory)
    }
    let file = config ?? ServerOption.environment("ENTITLED_CONFIG")
    return StoreLocation(try Startup.configuration(file: file).store, data: directory)
  }
}

/// The location of a store.
enum StoreLocation {
  /// SQLite in a directory.
  case directory(String)
  /// A database of PostgreSQL.
  case postgres(PostgresSettings)

  /// Parses the address of a store; `option` names it in errors.
  init(address: String, option: String, data: String) throws {
    do throws(ConfigurationError) {
      self.init(try StoreConfiguration(address: address, option: option), data: data)
    } catch {
      throw Failure(error.description, status: 64)
    }
  }

  /// The configured store; `data` is the data directory.
  init(_ configuration: StoreConfiguration, data: String) {
    switch configuration {
    case .sqlite(let path): self = .directory(path ?? data)
    case .postgres(let postgres): self = .postgres(PostgresSettings(postgres))
    }
  }

  /// Opens the store for reading, beside a running service.
  func inspect() throws(StoreError) -> any InspectedStore {
    switch self {
    case .directory(let directory): try StoreFile(directory: directory)
    case .postgres(let settings): try PostgresStoreInspection(settings)
    }
  }

  /// The directory of the store.
  ///
  /// - Throws: ``Failure`` with `alternative`, the way in which PostgreSQL does the same.
  func directory(else alternative: String) throws(Failure) -> String {
    guard case .directory(let directory) = self else {
      throw Failure("the store is in PostgreSQL: \(alternative) (docs/postgresql-operation.md)", status: 64)
    }
    return directory
  }
}

extension PostgresMigration.Status {
  /// Makes sure that no service uses the store.
  func requireNoReplicas() throws(Failure) {
    guard !replicas.isEmpty else { return }
    let names = replicas.map(\.name).joined(separator: ", ")
    throw Failure("replicas use the store: \(names); stop them, or wait 30 seconds after one that was killed")
  }
}

extension PostgresSettings {
  /// The settings of all sessions of a configured database.
  init(_ configuration: PostgresConfiguration) {
    self.init(
      configuration.connectionOptions, passwordFile: configuration.passwordFile,
      isPooled: configuration.isPooled)
  }
}
