internal import Glibc
internal import Platform
internal import SQLite
internal import Store

/// The data directory, locked by one process at a time.
struct DataDirectory: ~Copyable {
  /// The path of the database file.
  let databasePath: String
  /// The descriptor of the lock file. The kernel releases the lock when the process ends, even after a crash.
  private let lock: CInt

  /// Creates the directory with access for this user only, if it is missing, and locks it.
  init(_ path: String) throws(StoreError) {
    try makeDirectory(path)
    let lock = try takeLock(path)
    self.lock = lock
    databasePath = path + "/entitled.sqlite"
    makePrivateFile(databasePath)
  }

  deinit { close(lock) }
}

/// Opens and locks the lock file.
private func takeLock(_ path: String) throws(StoreError) -> CInt {
  let lock = open(path + "/entitled.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard lock >= 0 else { throw .cannotOpen(path: path, reason: systemReason()) }
  guard flock(lock, LOCK_EX | LOCK_NB) != 0 else { return lock }
  let isHeld = errno == EWOULDBLOCK
  let reason = systemReason()
  close(lock)
  throw isHeld ? .inUse(path: path) : .cannotOpen(path: path, reason: reason)
}

/// Creates `path` and its missing parents with access for this user only.
private func makeDirectory(_ path: String) throws(StoreError) {
  var made = path.hasPrefix("/") ? "" : "."
  for component in path.split(separator: "/") {
    made += "/" + component
    guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
    // Some systems reject the creation before they detect that the directory exists.
    let reason = systemReason()
    guard access(made, F_OK) == 0 else { throw .cannotOpen(path: path, reason: reason) }
  }
}

/// Whether a file or directory exists at `path`.
func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

private func systemReason() -> String { String(cString: strerror(errno)) }

extension Connection {
  /// Opens the writer's connection. A commit returns only after the WAL is synced to disk.
  static func writer(path: String) throws(StoreError) -> Connection {
    let connection = try Connection(path: path)
    try connection.execute(
      """
      PRAGMA busy_timeout = 5000;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA foreign_keys = ON;
      PRAGMA journal_size_limit = 67108864;
      PRAGMA cache_size = -65536;
      """)
    return connection
  }

  /// Opens a read connection. Readers share one memory mapping of the file; a scan of the whole file should
  /// not map it.
  static func reader(path: String, isMapped: Bool = true) throws(StoreError) -> Connection {
    let connection = try Connection(path: path)
    try connection.execute(
      """
      PRAGMA busy_timeout = 5000;
      PRAGMA query_only = ON;
      PRAGMA mmap_size = \(isMapped ? 2_147_418_112 : 0);
      PRAGMA cache_size = -4096;
      """)
    return connection
  }
}
