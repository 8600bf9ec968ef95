internal import SQLite
internal import Store

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
