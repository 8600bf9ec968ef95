internal import Platform
internal import Store

/// The data directory of an open store: its locks and its marker.
///
/// The marker states that a store was made here. Without it, a lost database would look like a first start, and the
/// service would begin with an empty store in which no one is entitled.
final class StoreDirectory: Sendable {
  static let markerName = "store.marker"
  private static let markerText = """
    entitled made a store in this directory. While this file exists, entitled starts only with that store or a backup
    of it. To start with an empty store, delete this file.

    """

  /// The path of the database file.
  let databasePath: String
  /// Whether a store was made here before.
  let isMarked: Bool
  private let directory: PrivateDirectory
  private let database: LockedFile

  /// Opens the directory and locks it and its database, each until it is released. Creates the directory with its
  /// parents, and an empty database, if they are missing.
  ///
  /// - Throws: ``StoreError/missing(path:marker:)`` if a store was made here and its database is missing or empty.
  init(_ path: String) throws(StoreError) {
    databasePath = path + "/entitled.sqlite"
    do throws(PrivateDirectoryError) {
      directory = try PrivateDirectory(path, createsParents: true)
      isMarked = try directory.read(StoreDirectory.markerName) != nil
    } catch {
      throw StoreError(error)
    }
    if isMarked, FileIdentity(path: databasePath).map(\.size) ?? 0 == 0 {
      throw StoreDirectory.missing(in: path)
    }
    do throws(PrivateDirectoryError) { database = try LockedFile(databasePath) } catch {
      throw StoreError(error)
    }
  }

  /// Writes the marker, once the database has its tables.
  func mark() throws(StoreError) {
    guard !isMarked else { return }
    try Self.mark(directory)
  }

  /// Writes the marker of a directory that has a store.
  static func mark(_ directory: PrivateDirectory) throws(StoreError) {
    do throws(PrivateDirectoryError) {
      try directory.replace(markerName, with: markerText.utf8)
    } catch {
      throw StoreError(error)
    }
  }

  /// The error of a marked directory without a store.
  static func missing(in path: String) -> StoreError {
    .missing(path: "\(path)/entitled.sqlite", marker: "\(path)/\(markerName)")
  }
}

/// The files of an open store, to notice their removal: SQLite would continue writing to files that no path leads to.
struct OpenStoreFiles: Sendable {
  private let files: [(path: String, identity: FileIdentity?)]

  /// Reads the identities of the files of the open database at `path`.
  init(database path: String) {
    files = ["", "-wal", "-shm"].map { (path + $0, FileIdentity(path: path + $0)) }
  }

  /// The first file that was removed or replaced; `nil` if all are in place. Three system calls.
  var removed: String? {
    files.first { file in file.identity != nil && FileIdentity(path: file.path) != file.identity }?.path
  }
}
