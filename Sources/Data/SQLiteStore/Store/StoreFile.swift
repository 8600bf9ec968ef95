internal import Glibc
internal import SQLite
internal import SignedData
package import Store

/// The file of a store, or a backup of one, looked at from outside: beside a service that runs, or without
/// one.
package struct StoreFile {
  private let connection: Connection
  private let path: String
  private static let size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"

  /// Opens the store in `directory` for looking only.
  ///
  /// - Throws: ``StoreError/cannotOpen(path:reason:)``; ``StoreError/newerSchema(found:supported:)``;
  ///   ``StoreError/corrupt(_:)`` if the file has no tables.
  package init(directory: String) throws(StoreError) { try self.init(path: directory + "/entitled.sqlite") }

  /// Opens a backup, or the file of a store, for looking only.
  package init(path: String) throws(StoreError) {
    guard access(path, R_OK) == 0 else {
      throw .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }
    self.path = path
    connection = try Connection.reader(path: path)
    try Schema.requireCurrent(connection)
  }

  /// Copies the store to a new file, for this user alone, and checks the copy. The file appears under its
  /// name only when all of it is on the disk and sound.
  ///
  /// - Returns: how many bytes the copy has.
  /// - Throws: ``StoreError/cannotOpen(path:reason:)`` if there is something at `target` already.
  package func backUp(to target: String) throws(StoreError) -> Int64 {
    guard !fileExists(target) else { throw .cannotOpen(path: target, reason: "it exists already") }
    try copyDatabase(connection, to: target)
    return try Connection.reader(path: target).number(Self.size)
  }

  /// What is wrong with the file: its pages, what refers to what is not there, and evidence that is not what
  /// arrived. `report` hears now and then how many pieces of evidence were looked at.
  package func faults(_ report: (Int) -> Void = { _ in }) throws(StoreError) -> [String] {
    var found = try connection.faults()
    let query = EvidenceQueries(connection, try BodyCompressor(connection))
    var (last, count): (EvidenceID?, Int) = (nil, 0)
    while true {
      let ids = try query.ids(after: last, limit: 1000)
      for id in ids {
        if let fault = fault(of: id, query), found.count < 100 { found.append(fault) }
        last = id
      }
      count += ids.count
      report(count)
      guard ids.count == 1000 else { return found }
    }
  }

  private func fault(of id: EvidenceID, _ query: EvidenceQueries) -> String? {
    do {
      guard let content = try query.evidence(id)?.evidence.content, let body = content.body else {
        return nil
      }
      let hash = SHA256.hash(body[...])
      return hash == content.hash && body.count == content.size
        ? nil : "evidence \(id.rawValue) is not what arrived"
    } catch {
      return "evidence \(id.rawValue): \(error)"
    }
  }

  /// How much there is, and how much space it takes.
  package func statistics() throws(StoreError) -> StoreStatistics {
    StoreStatistics(
      counts: try SQLiteReader(path: path, changes: CustomerVersions()).counts(),
      schemaVersion: Int(try connection.number("PRAGMA user_version")),
      fileBytes: try connection.number(Self.size),
      freeBytes: try connection.number(
        "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"),
      arrivedBytes: try connection.number("SELECT ifnull(sum(size), 0) FROM evidence WHERE body NOT NULL"),
      keptBytes: try connection.number("SELECT ifnull(sum(length(body)), 0) FROM evidence"),
      forgottenBodies: try connection.number("SELECT count(*) FROM evidence WHERE body IS NULL"))
  }
}

/// How much a store holds, and what it takes.
package struct StoreStatistics: Hashable, Sendable {
  package let counts: StoreCounts
  /// The version of the schema.
  package let schemaVersion: Int
  /// Of the database file, without its log.
  package let fileBytes: Int64
  /// In the file and not in use; `entitled store vacuum` gives them back.
  package let freeBytes: Int64
  /// The bytes of evidence as it arrived, of which the bodies are kept.
  package let arrivedBytes: Int64
  /// What these take, packed.
  package let keptBytes: Int64
  /// Evidence of which only the hash and the facts are left, or that was too large.
  package let forgottenBodies: Int64
}

/// Copies a database to a file that appears only when it is whole and sound.
func copyDatabase(_ connection: Connection, to target: String) throws(StoreError) {
  let partial = target + ".partial"
  unlink(partial)
  let file = open(partial, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard file >= 0 else { throw .cannotOpen(path: target, reason: String(cString: strerror(errno))) }
  defer { close(file) }
  do throws(StoreError) {
    try connection.copy(to: partial)
    let faults = try Connection.reader(path: partial).faults()
    guard faults.isEmpty else { throw .corrupt("the copy: \(faults.prefix(3).joined(separator: "; "))") }
  } catch {
    unlink(partial)
    throw error
  }
  guard fsync(file) == 0, rename(partial, target) == 0 else {
    let reason = String(cString: strerror(errno))
    unlink(partial)
    throw .cannotOpen(path: target, reason: reason)
  }
}
