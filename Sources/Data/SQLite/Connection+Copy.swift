internal import CSQLite3
package import Store

extension Connection {
  /// Copies the whole database to a new file, as it is at this moment, while others go on writing to it
  /// (https://sqlite.org/backup.html).
  package func copy(to path: String) throws(StoreError) {
    let target = try Connection(path: path)
    guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
      throw failure(sqlite3_errcode(target.handle), target.handle)
    }
    // All pages in one step: a copy in many would begin again whenever somebody writes.
    let copied = sqlite3_backup_step(backup, -1)
    let finished = sqlite3_backup_finish(backup)
    guard copied == SQLITE_DONE else { throw failure(copied, target.handle) }
    try check(finished, target.handle)
    // The copy is one file: without a log of its own until somebody opens it as a store.
    try target.execute("PRAGMA journal_mode = DELETE")
  }

  /// What SQLite finds wrong with the file, in its words; none if it is sound.
  package func faults() throws(StoreError) -> [String] {
    var found: [String] = []
    let integrity = try Statement("PRAGMA integrity_check(20)", on: self)
    while try integrity.step() {
      if let text = integrity.text(0), text != "ok" { found.append(text) }
    }
    integrity.reset()
    let references = try Statement("PRAGMA foreign_key_check", on: self)
    while try references.step(), found.count < 40 {
      let (table, row, other) = (references.text(0) ?? "", references.number(1), references.text(2) ?? "")
      found.append("row \(row) of \(table) refers to a row of \(other) that is not there")
    }
    references.reset()
    return found
  }
}
