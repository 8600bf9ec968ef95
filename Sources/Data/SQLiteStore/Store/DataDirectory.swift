internal import Glibc
internal import Platform
internal import SQLite
internal import Store

/// The directory that the store lives in, held by one process at a time.
struct DataDirectory: ~Copyable {
  /// The database file in it.
  let databasePath: String
  /// Holds the lock for as long as it is open; the kernel lets go of it when the process ends, however.
  private let lock: CInt

  /// Takes the directory; makes it, for this user alone, if it is not there.
  init(_ path: String) throws(StoreError) {
    try makeDirectory(path)
    let lock = try takeLock(path)
    self.lock = lock
    databasePath = path + "/entitled.sqlite"
    makePrivateFile(databasePath)
  }

  deinit { close(lock) }
}

/// Opens and locks the directory's lock file.
private func takeLock(_ path: String) throws(StoreError) -> CInt {
  let lock = open(path + "/entitled.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
  guard lock >= 0 else { throw .cannotOpen(path: path, reason: systemReason()) }
  guard flock(lock, LOCK_EX | LOCK_NB) != 0 else { return lock }
  let isHeld = errno == EWOULDBLOCK
  let reason = systemReason()
  close(lock)
  throw isHeld ? .inUse(path: path) : .cannotOpen(path: path, reason: reason)
}

/// Makes `path` and what is missing above it, readable by this user alone.
private func makeDirectory(_ path: String) throws(StoreError) {
  var made = path.hasPrefix("/") ? "" : "."
  for component in path.split(separator: "/") {
    made += "/" + component
    guard mkdir(made, 0o700) != 0, errno != EEXIST else { continue }
    // Some systems refuse to make what exists before they see that it exists.
    let reason = systemReason()
    guard access(made, F_OK) == 0 else { throw .cannotOpen(path: path, reason: reason) }
  }
}

/// Whether there is something at `path`.
func fileExists(_ path: String) -> Bool { access(path, F_OK) == 0 }

private func systemReason() -> String { String(cString: strerror(errno)) }

extension Connection {
  /// The writing connection: every commit is on the disk before it returns.
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

  /// A reading connection. The file is mapped, so that what all loops read is in memory once; who reads all of it once
  /// had better not.
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
