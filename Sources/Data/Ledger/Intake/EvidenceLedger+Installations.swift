package import AppStore
package import Store

// The installations of purchases and app installs. They are no evidence: they limit the use of documents, and no answer
// depends on them.
extension EvidenceLedger {
  /// The number of installations of earlier days that a new one deletes, so that the table stays small at a bounded
  /// cost.
  private static let purgeLimit = 16

  /// Counts an installation of purchases and app installs of one app and environment on the day of `now`, in UTC. The
  /// count is durable on return.
  ///
  /// - Parameters:
  ///   - installation: a hash that identifies the installation; the first 16 bytes are stored.
  ///   - lines: the purchases and app installs.
  ///   - limit: the maximum number of installations of a line and day.
  ///   - now: the time in the environment of the lines.
  /// - Returns: the lines with `limit` other installations, for which it was not counted.
  /// - Throws: ``LedgerError/store(_:)``.
  package func count(
    installation: [UInt8], of lines: [LineKey], limit: Int, at now: Instant
  ) async throws(LedgerError) -> [LineKey] {
    let id = Array(installation.prefix(Installation.idSize))
    let today = now.millisecondsSince1970 / Instant.millisecondsPerDay
    let excess = try await read { snapshot throws(StoreError) in
      try snapshot.excess(of: id, among: lines, on: today, limit: limit)
    }
    // Most requests are of an installation that was counted already, or of one over the limit: they write nothing.
    guard !excess.uncounted.isEmpty else { return excess.lines }
    return try await write { store throws(StoreError) in
      let excess = try store.excess(of: id, among: lines, on: today, limit: limit)
      for line in excess.uncounted {
        try store.put(Installation(line: line, day: today, id: id))
        try store.deleteInstallations(
          of: line.appID, in: line.environment, before: today, limit: Self.purgeLimit)
      }
      return excess.lines
    }
  }
}

extension InstallationReader {
  /// Divides the lines that did not count the installation: those with `limit` others, and those that can.
  fileprivate func excess(
    of id: [UInt8], among lines: [LineKey], on day: Int64, limit: Int
  ) throws(StoreError) -> (lines: [LineKey], uncounted: [LineKey]) {
    var (full, uncounted): ([LineKey], [LineKey]) = ([], [])
    for line in lines {
      let known = try installations(of: line, on: day)
      guard !known.contains(id) else { continue }
      if known.count < limit { uncounted.append(line) } else { full.append(line) }
    }
    return (full, uncounted)
  }
}
