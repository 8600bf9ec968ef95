internal import AppStore
internal import JSON
internal import SignedData

extension AppStoreSimulator {
  /// Performs a purchase and returns its signed documents, signed now. A product that the account owns already is not
  /// sold again; the documents are those of the owned one (``World/buy(_:)``).
  ///
  /// - Throws: ``SandboxError/actionFailed(_:)`` for an order that the App Store would refuse; the errors of the
  ///   journal, with nothing sold.
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

  /// Returns a transaction with its signed documents, or `nil` if it does not exist.
  func purchase(_ id: Int64?) throws(CryptographyError) -> Purchase? {
    guard let sold = id.flatMap({ world.transaction($0) }) else { return nil }
    return Purchase(
      transactionId: String(sold.id), originalTransactionId: String(sold.originalID),
      productId: sold.productID, account: sold.account, signedTransactionInfo: try sign(sold),
      signedRenewalInfo: try world.lines[sold.originalID].map { line throws(CryptographyError) in
        try sign(line)
      })
  }

  /// Performs a purchase and returns one document about it, for tests that need a document of each kind.
  ///
  /// - Throws: as ``purchase(_:)``; ``ActionError/notASubscription(_:)`` if the kind exists for subscriptions only,
  ///   after the purchase was performed.
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

  /// Returns the document, or `nil` if only subscriptions have one of this kind.
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
      return try notification.map { notification throws(CryptographyError) in
        try signedPayload(of: notification)
      }
    case .retentionMessageRequest:
      guard let line else { return nil }
      let identifier = Nonce.random().description
      return try authority.signer.sign(
        payload: world.retentionMessageRequest(line, identifier: identifier, signed: world.now))
    case .appReceipt: return try receiptDocument.appReceipt(of: sold.account, in: app)
    case .transactionReceipt: return try receiptDocument.transactionReceipt(sold, in: app)
    case .notificationV1:
      guard let notification,
        let type = notification.typeV1
          ?? world.version1Types(notification.type, notification.subtype, notification.subject).first,
        let body = try legacyDocument(of: app).notification(notification, as: type)
      else { return nil }
      return String(decoding: body.serialized(), as: UTF8.self)
    }
  }
}

/// The kinds of documents that the simulator can issue for a purchase; the raw values are path components.
package enum SandboxDocumentKind: String, Hashable, Sendable, CaseIterable {
  /// The JWS of the transaction.
  case transaction
  /// Subscriptions only.
  case renewalInfo = "renewal-info"
  /// The JWS about the download of the app.
  case appTransaction = "app-transaction"
  /// The signed payload of a version 2 server notification.
  case notification
  /// Subscriptions only.
  case retentionMessageRequest = "retention-message-request"
  /// PKCS#7, base64.
  case appReceipt = "app-receipt"
  /// The receipt format before iOS 7: a property list, base64.
  case transactionReceipt = "transaction-receipt"
  /// The unsigned body of a version 1 server notification. Subscriptions only.
  case notificationV1 = "notification-v1"
}
