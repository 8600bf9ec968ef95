internal import AppStore
internal import Entitlements
internal import Store

// Withdrawn consents of parents or guardians: Apple announces them, and the operator settles them.
extension FactApplier {
  /// Links an app install whose parent or guardian withdrew the consent (`RESCIND_CONSENT`) to its customers, and
  /// emits an event for each: the owners of the install, and those of the purchases that were made through it.
  mutating func recordRescindedConsent(
    _ install: AppTransactionFact?, at instant: Instant, from source: Source
  ) throws(StoreError) {
    guard let install else { return }
    try recordConsentWithdrawal(of: install.appTransactionID, at: instant, from: source)
    let installLine = source.line(install.lineID)
    var affected = [installLine]
    if !install.appTransactionID.isEmpty {
      let purchases = try store.lines(
        ofAppInstall: install.appTransactionID, of: source.appID, in: source.environment)
      for purchase in purchases { changes.withdrawnConsents[purchase] = source.id }
      affected += purchases
    }
    var customers: [CustomerKey] = []
    for line in affected {
      for owner in try lines.owners(of: line) where !customers.contains(line.customer(owner)) {
        customers.append(line.customer(owner))
      }
    }
    for customer in customers {
      if try !customer.isAmong(lines.owners(of: installLine)) {
        try link(installLine, to: customer, by: source.origin)
      }
      try store.index(source.id, under: customer)
      changes.emitInformational(.consentRescinded, to: .customer(customer), by: source.origin, at: instant)
    }
  }

  /// Links a customer who gets a purchase to the app installs through which it was made and whose consent was withdrawn
  /// before, as the withdrawal would have done.
  mutating func linkRescindedInstalls(
    of purchase: LineKey, to customer: CustomerKey, by origin: ChangeOrigin
  ) throws(StoreError) {
    let installs = try Set(store.facts(of: purchase).transactions.compactMap(\.details.appTransactionID))
    for install in installs.sorted() where !install.isEmpty {
      let line = purchase.appInstall(install)
      guard
        let withdrawal = try store.consentWithdrawal(install, of: line.appID, in: line.environment),
        try !customer.isAmong(lines.owners(of: line))
      else { continue }
      try link(line, to: customer, by: origin)
      changes.emitInformational(
        .consentRescinded, to: .customer(customer), by: origin, at: withdrawal.withdrawnAt)
    }
  }

  /// Stores the withdrawal of an app install. The order of notifications and settlements makes no difference; a withdrawal
  /// after the settlement is open again.
  private mutating func recordConsentWithdrawal(
    of appTransactionID: String, at instant: Instant, from source: Source
  ) throws(StoreError) {
    guard !appTransactionID.isEmpty else { return }
    var record =
      try store.consentWithdrawal(appTransactionID, of: source.appID, in: source.environment)
      ?? ConsentWithdrawalRecord(
        appTransactionID, of: source.appID, in: source.environment, withdrawnAt: instant,
        evidenceID: source.id)
    if record.withdrawnAt < instant {
      record.withdrawnAt = instant
      record.evidenceID = source.id
    }
    try store.put(record)
    try store.enqueueForReports(source.line(LineKey.appTransactionPrefix + appTransactionID), from: source.id)
  }

  /// Stores that the operator has done what the withdrawal requires.
  mutating func settleConsentWithdrawal(
    _ appTransactionID: String, at instant: Instant, _ evidence: EvidenceID, of appID: String,
    in environment: Environment
  ) throws(StoreError) {
    let line = LineKey(
      appID: appID, environment: environment, lineID: LineKey.appTransactionPrefix + appTransactionID)
    try store.index(evidence, under: line)
    try store.enqueueForReports(line, from: evidence)
    guard var record = try store.consentWithdrawal(appTransactionID, of: appID, in: environment),
      record.settledAt.map({ $0 <= instant }) ?? true
    else { return }
    record.settledAt = instant
    record.settlementID = evidence
    try store.put(record)
  }
}
