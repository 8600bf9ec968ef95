internal import Foundation
package import PostgreSQL
package import Store

/// `entitled store migrate`: changes the tables for a new version of the program while replicas of the version before
/// continue.
package struct PostgresMigration {
  /// The state of the store's tables, and the replicas that use them.
  package struct Status: Hashable, Sendable {
    /// The newest version whose additions the tables have.
    package let version: Int64
    /// The oldest version whose programs can use the tables.
    package let oldest: Int64
    package let replicas: [RegisteredReplica]
    /// The number of inbox entries that no leader has executed.
    package let waitingEntries: Int64
    /// The number of commits.
    package let position: Int64
  }

  /// The longest wait of a step for locks, so that calls of the service do not queue up behind it.
  private static let lockTimeout = "2s"
  /// The attempts at a step that did not get its locks, a second apart.
  private static let attempts = 30

  private let connection: PostgresConnection<StoreError>

  /// Opens a session.
  package init(_ settings: PostgresSettings) throws(StoreError) {
    connection = try PostgresConnection(settings.ofMaintenance)
  }

  /// The schema version of this program.
  package static var programVersion: Int64 { PostgresSchema.version }

  /// The versions of the store, the replicas that are alive, and what they have not executed.
  ///
  /// - Throws: ``StoreError/corrupt(_:)`` if the database has no tables of a store;
  ///   ``StoreError/newerSchema(found:supported:)``.
  package func status() throws(StoreError) -> Status {
    let schema = try current()
    return Status(
      version: schema.version, oldest: schema.oldest, replicas: try RegisteredReplica.alive(connection),
      waitingEntries: try connection.number("SELECT count(*) FROM inbox WHERE done_at IS NULL"),
      position: try connection.number("SELECT position FROM head"))
  }

  /// Adds what this program needs; in an empty database all tables. Replicas of the version before continue.
  ///
  /// - Returns: whether anything was missing.
  /// - Throws: ``PostgresMigrationError``, ``StoreError``.
  package func expand() throws -> Bool {
    guard try StoredSchema.read(connection) != nil else {
      try PostgresSchema.create(connection)
      return true
    }
    return try apply { schema in
      for upgrade in SchemaUpgrade.all where upgrade.version > schema.version {
        // A store serves two versions at a time, never three.
        guard upgrade.version <= schema.oldest + 1 else {
          throw PostgresMigrationError.contractFirst(version: schema.version)
        }
        try connection.execute(upgrade.expand)
        schema.version = upgrade.version
      }
    }
  }

  /// Removes what only older programs need. No such program can use the store any more.
  ///
  /// - Returns: whether anything was removed.
  /// - Throws: ``PostgresMigrationError/olderReplicas(_:)`` while one is alive; ``StoreError``.
  package func contract() throws -> Bool {
    try apply { schema in
      for upgrade in SchemaUpgrade.all where upgrade.version > schema.oldest {
        guard upgrade.version <= schema.version else {
          throw PostgresMigrationError.expandFirst(version: schema.version)
        }
        let older = try RegisteredReplica.alive(connection).filter { $0.schemaVersion < upgrade.version }
        guard older.isEmpty else { throw PostgresMigrationError.olderReplicas(older) }
        try connection.execute(upgrade.contract)
        schema.oldest = upgrade.version
      }
    }
  }

  private func current() throws(StoreError) -> StoredSchema {
    guard let schema = try StoredSchema.read(connection) else {
      throw .corrupt("the database has no tables of a store")
    }
    guard schema.oldest <= Self.programVersion else {
      throw .newerSchema(found: Int(schema.oldest), supported: Int(Self.programVersion))
    }
    return schema
  }

  /// Runs `steps` in one transaction with the versions that they lead to, and again while locks are taken.
  private func apply(_ steps: (inout StoredSchema) throws -> Void) throws -> Bool {
    _ = try current()
    var attempt = 1
    while true {
      do {
        return try applyOnce(steps)
      } catch StoreError.conflict where attempt < Self.attempts {
        attempt += 1
        Thread.sleep(forTimeInterval: 1)
      }
    }
  }

  /// Runs steps and records the new version in one transaction.
  ///
  /// - Returns: whether the version changed.
  /// - Throws: the error of `steps`, after a rollback.
  private func applyOnce(_ steps: (inout StoredSchema) throws -> Void) throws -> Bool {
    try connection.execute("BEGIN; SET LOCAL lock_timeout = '\(Self.lockTimeout)'")
    do {
      // Registrations of replicas read this row, so none is added between the check and the commit.
      guard let before = try StoredSchema.read(connection, forUpdate: true) else {
        throw StoreError.corrupt("the database has no tables of a store")
      }
      var after = before
      try steps(&after)
      try connection.execute(
        "UPDATE store_version SET version = \(after.version), oldest = \(after.oldest)")
      try connection.execute("COMMIT")
      return after != before
    } catch {
      try? connection.execute("ROLLBACK")
      throw error
    }
  }
}

/// The reason that a step of ``PostgresMigration`` must wait.
package enum PostgresMigrationError: Error, Hashable, CustomStringConvertible {
  /// Replicas with an older schema version are alive.
  case olderReplicas([RegisteredReplica])
  /// Programs of two versions can use the store already; `version` is the newer one.
  case contractFirst(version: Int64)
  /// The store has only `version`, and this program needs a newer one.
  case expandFirst(version: Int64)

  package var description: String {
    switch self {
    case .olderReplicas(let replicas):
      "replicas with an older schema version are alive: "
        + replicas.map { "\($0.name) (\($0.program))" }.joined(separator: ", ")
    case .contractFirst(let version):
      "programs of an older schema version can still use the store; "
        + "run 'entitled store migrate --contract' of a program with schema version \(version) first"
    case .expandFirst(let version):
      "the store has schema version \(version); run 'entitled store migrate' first"
    }
  }
}
