internal import AppStore
internal import Ledger
internal import Reports
internal import Store

/// The withdrawals of the consent of an app install and their settlements, as they became known.
struct KnownConsents {
  private let line: LineKey
  private let changes: [ConsentChange]

  init(ofInstall line: LineKey, in store: any StoreTransaction) throws(StoreError) {
    self.line = line
    changes = try store.consentChanges(ofInstall: line, settledBy: .operatorCommand)
  }

  /// The withdrawals that were known when the evidence `last` was stored; `nil`: all.
  func consents(through last: EvidenceID?) -> [WithdrawnConsent] {
    let known = changes.filter { change in last.map { change.evidenceID <= $0 } ?? true }
    return WithdrawnConsent.all(
      ofLine: line.lineID, withdrawals: known.filter { !$0.isSettlement }.map(\.at),
      settlements: known.filter(\.isSettlement).map(\.at))
  }
}
