internal import AppStore
internal import Entitlements
internal import FamilySharing
internal import Store

/// Writes the facts of each purchase line, the `line_record` rows of the views `transaction_fact` and
/// `renewal_fact`: the newest document about each transaction, and all renewal infos.
final class FactRows {
  let transaction: KeyedRead<TransactionKey, TransactionFact?>
  let transactionsOfLine: KeyedRead<LineKey, [TransactionFact]>
  /// All facts of a purchase; not for a workspace.
  private let ofLine: any SQLStatement
  private let insertTransaction: any SQLStatement
  private let replaceTransaction: any SQLStatement
  private let insertInstallLine: any SQLStatement
  let renewals: RenewalRows
  let prices: PriceRows
  /// Grants and app installs.
  let grants: GrantFactRows

  init(_ connection: any SQLConnection, in workspace: Workspace? = nil) throws(StoreError) {
    grants = try GrantFactRows(connection, in: workspace)
    let ofLine = "line_id = ? AND app = ? AND environment = ?"
    let line = "line_id, app, environment"
    transaction = try KeyedRead(
      "SELECT fact FROM transaction_fact WHERE \(ofLine) AND transaction_id = ?", on: connection,
      in: workspace
    ) { _, row throws(StoreError) in try row.step() ? FactCoding.transaction(row.bytes(0)) : nil }
    transactionsOfLine = try KeyedRead(
      "SELECT fact FROM transaction_fact WHERE \(ofLine)", on: connection, in: workspace
    ) { _, row throws(StoreError) in
      var transactions: [TransactionFact] = []
      var decoder = FactCoding.LineDecoder()
      while try row.step() { transactions.append(try decoder.transaction(row.bytes(0))) }
      return transactions
    }
    // The kinds follow each other, so that one search finds both.
    self.ofLine = try connection.prepare(
      """
      SELECT kind, fact FROM line_record
      WHERE \(ofLine) AND kind BETWEEN \(LineRecordKind.renewal) AND \(LineRecordKind.transaction)
      ORDER BY kind, id, number
      """)
    insertTransaction = try connection.prepare(
      """
      INSERT INTO line_record (\(line), kind, number, id, fact, evidence_id, product_id, shared_at, line_item)
      VALUES (?, ?, ?, \(LineRecordKind.transaction), 0, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (\(line), kind, id, number) DO NOTHING
      """)
    replaceTransaction = try connection.prepare(
      """
      UPDATE line_record SET fact = ?5, evidence_id = coalesce(?6, evidence_id), product_id = ?7, shared_at = ?8, line_item = ?9
      WHERE line_id = ?1 AND app = ?2 AND environment = ?3
        AND kind = \(LineRecordKind.transaction) AND id = ?4 AND number = 0
      """)
    insertInstallLine = try connection.prepare(
      """
      INSERT INTO app_install_line (app_transaction_id, app, environment, line_id)
      VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
      """)
    renewals = try RenewalRows(connection, in: workspace)
    prices = try PriceRows(connection)
  }

  func put(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID
  ) throws(StoreError) -> FactInsertion {
    try putInstallLine(fact, of: line)
    // Also of a document that is not stored, so that the order of arrival does not matter.
    try prices.put(fact, of: line)
    let key = TransactionKey(fact.transactionID, of: line)
    try bind(fact, of: line, from: evidence, to: insertTransaction)
    if try insertIfMissing(key) {
      keep(fact, as: key, isNew: true)
      return .latest
    }
    guard let known = try transaction(key) else { return .duplicate }
    let merged = fact.merged(with: known)
    guard merged != known else { return .duplicate }
    let isLatest = fact.statesPresent(of: merged, before: known)
    try bind(merged, of: line, from: isLatest ? evidence : nil, to: replaceTransaction)
    try replaceTransaction.run()
    keep(merged, as: key, isNew: false)
    return isLatest ? .latest : .older
  }

  /// Runs ``insertTransaction`` unless the transaction is stored. Most are new, so an engine without a workspace tries it
  /// first, and a conflict reveals an existing row.
  private func insertIfMissing(_ key: TransactionKey) throws(StoreError) -> Bool {
    guard transaction.isKept else { return try insertTransaction.runCounting() > 0 }
    guard try transaction(key) == nil else { return false }
    try insertTransaction.run()
    return true
  }

  private func keep(_ fact: TransactionFact, as key: TransactionKey, isNew: Bool) {
    transaction.keep(fact, of: key)
    transactionsOfLine.change(key.line) { known in
      // A receipt may add thousands to one line.
      if !isNew { known.removeAll { $0.transactionID == fact.transactionID } }
      known.append(fact)
    }
  }

  /// Without `evidence`, ``replaceTransaction`` leaves that of the row.
  private func bind(
    _ fact: TransactionFact, of line: LineKey, from evidence: EvidenceID?, to statement: any SQLStatement
  ) throws(StoreError) {
    try statement.bind(line)
    try statement.bind(4, fact.transactionID)
    try statement.bind(5, FactCoding.encode(fact))
    try statement.bind(6, evidence?.rawValue)
    try statement.bind(7, fact.canBeShared ? fact.productID : nil)
    try statement.bind(8, fact.canBeShared ? fact.sharedInstant.millisecondsSince1970 : nil)
    try statement.bind(9, fact.details.webOrderLineItemID)
  }

  /// Stores the app install through which a line was bought.
  private func putInstallLine(_ fact: TransactionFact, of line: LineKey) throws(StoreError) {
    guard let install = fact.details.appTransactionID else { return }
    try insertInstallLine.bind(1, install)
    try insertInstallLine.bind(2, line.appID)
    try insertInstallLine.bind(3, line.environment.rawValue)
    try insertInstallLine.bind(4, line.lineID)
    try insertInstallLine.run()
  }

  /// Adds a renewal info to those of the line.
  func put(
    _ fact: RenewalFact, of line: LineKey, knownAt: Instant, from evidence: EvidenceID
  ) throws(StoreError) -> FactInsertion {
    try renewals.put(fact, of: line, knownAt: knownAt, from: evidence)
  }

  /// Expects the reads of ``facts(of:)`` of a purchase.
  func expect(_ line: LineKey) throws(StoreError) {
    try transactionsOfLine.expect(line)
    try renewals.last.expect(line)
  }

  /// Decodes the rows of one line, which are next to each other in `line_record`.
  func facts(of line: LineKey) throws(StoreError) -> CustomerFacts {
    guard line.isPurchase else { return try grants.facts(of: line) }
    guard transactionsOfLine.isKept else { return try read(line) }
    var facts = CustomerFacts(transactions: try transactionsOfLine(line))
    if let history = try renewals.history(of: line) { facts.insert(history) }
    return facts
  }

  private func read(_ line: LineKey) throws(StoreError) -> CustomerFacts {
    try ofLine.bind(line)
    defer { ofLine.reset() }
    var (transactions, renewals) = ([TransactionFact](), [RenewalHistory]())
    var decoder = FactCoding.LineDecoder()
    while try ofLine.step() {
      if ofLine.number(0) == LineRecordKind.renewal {
        renewals.append(try FactCoding.renewals(ofLine.bytes(1)))
      } else {
        transactions.append(try decoder.transaction(ofLine.bytes(1)))
      }
    }
    var facts = CustomerFacts(distinct: transactions)
    if let history = RenewalHistory.joining(renewals) { facts.insert(history) }
    return facts
  }
}
