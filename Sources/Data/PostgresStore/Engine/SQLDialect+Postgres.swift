internal import Bytes
internal import SQLStore

extension SQLDialect {
  static let postgres = SQLDialect(
    beginWrite: "BEGIN", beginRead: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
  ) { column, bytes in
    "position('\\x\(Hex.encode(bytes))'::bytea IN \(column)) > 0"
  }
}
