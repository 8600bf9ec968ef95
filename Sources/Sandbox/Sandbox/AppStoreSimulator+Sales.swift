internal import AppStore
internal import JSON
internal import SignedData

extension AppStoreSimulator {
  /// Sells, and signs the proof of it.
  package func purchase(_ order: PurchaseOrder) throws(SandboxError) -> Purchase {
    let outcome = try perform(.purchases, Parameters(order.json))
    do {
      guard let purchase = try purchase(outcome.transactions.first) else {
        throw SandboxError.actionFailed(.unknownTransaction(""))
      }
      return purchase
    } catch let error as CryptographyError {
      throw .cryptographyFailed(error)
    } catch let error as SandboxError {
      throw error
    } catch {
      throw .actionFailed(.notPossible("\(error)"))
    }
  }

  /// A transaction as the app gets it, signed.
  func purchase(_ id: Int64?) throws(CryptographyError) -> Purchase? {
    guard let sold = id.flatMap({ world.transactions[$0] }) else { return nil }
    return Purchase(
      transactionId: String(sold.id), originalTransactionId: String(sold.originalID),
      productId: sold.productID, account: sold.account, signedTransactionInfo: try sign(sold),
      signedRenewalInfo: try world.lines[sold.originalID].map { line throws(CryptographyError) in
        try sign(line)
      })
  }

  /// Sells, and makes one of the documents in which Apple would speak of it.
  package func document(
    _ kind: SandboxDocumentKind, about order: PurchaseOrder
  ) throws(SandboxError) -> String {
    let product: SandboxProduct
    do { product = try world.find(order.productId, of: order.app) } catch { throw .actionFailed(error) }
    let outcome = try perform(.purchases, Parameters(order.json))
    do {
      if let document = try document(kind, outcome, product) { return document }
    } catch { throw .cryptographyFailed(error) }
    throw .actionFailed(.notASubscription(order.productId))
  }

  /// The document; `nil` for one that only a subscription has.
  private func document(
    _ kind: SandboxDocumentKind, _ outcome: Outcome, _ product: SandboxProduct
  ) throws(CryptographyError) -> String? {
    guard let sold = outcome.transactions.first.flatMap({ world.transactions[$0] }),
      let app = world.app(sold.app)
    else { return nil }
    let line = world.lines[sold.originalID]
    let notification = world.notifications.last { $0.transaction?.id == sold.id }
    switch kind {
    case .transaction: return try sign(sold)
    case .renewalInfo: return try line.map { line throws(CryptographyError) in try sign(line) }
    case .appTransaction:
      guard let payload = world.appTransaction(of: sold.account, in: app.id, signed: world.now) else {
        return nil
      }
      return try authority.signer.sign(payload: payload)
    case .notification:
      return try notification.map { notification throws(CryptographyError) in try signedPayload(of: notification) }
    case .retentionMessageRequest:
      guard let line else { return nil }
      let identifier = Nonce.random().description
      return try authority.signer.sign(
        payload: world.retentionMessageRequest(line, identifier: identifier, signed: world.now))
    case .appReceipt: return try receiptDocument.appReceipt(of: sold.account, in: app)
    case .transactionReceipt: return try receiptDocument.transactionReceipt(sold, in: app)
    case .notificationV1:
      guard let notification, let body = try legacyDocument(of: app).notification(notification) else { return nil }
      return String(decoding: body.serialized(), as: UTF8.self)
    }
  }
}
