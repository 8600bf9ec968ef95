package import AppStore
internal import Entitlements
package import Store

// What Apple is to be asked because nobody told.
extension EvidenceLedger {
  /// Looks again whether Apple is to be asked about lines by `moment`, and schedules anew those about which it
  /// is not.
  ///
  /// - Returns: those about which it is.
  package func stillDue(_ lines: [LineKey], by moment: Instant) async throws(LedgerError) -> [LineKey] {
    try await write { store throws(StoreError) in
      var due: [LineKey] = []
      for line in lines {
        let next = PollSchedule.next(try store.facts(of: line), askedAt: try store.lastPoll(of: line))
        if let next, next <= moment { due.append(line) } else { try store.schedulePoll(of: line, at: next) }
      }
      return due
    }
  }

  /// Remembers that Apple was asked about lines, and when to ask next.
  package func recordPolls(of lines: [LineKey], at moment: Instant) async throws(LedgerError) {
    try await write { store throws(StoreError) in
      // Where nothing was open, nothing opens because Apple was asked.
      for line in lines where try store.recordPoll(of: line, at: moment) {
        let next = PollSchedule.next(try store.facts(of: line), askedAt: moment)
        try store.schedulePoll(of: line, at: next)
      }
    }
  }
}
