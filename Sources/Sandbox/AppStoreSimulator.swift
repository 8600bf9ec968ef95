package import AppStore
internal import JSON
package import SignedData

/// An App Store on this machine: it sells, and signs what it sold with a chain shaped like Apple's.
///
/// What it signs verifies for whoever trusts its ``root``, and only for the environment `Sandbox`.
/// Chain, keys, the numbers it has given out and which account bought what outlast a restart.
package actor AppStoreSimulator {
  /// The certificate to trust.
  package nonisolated let root: Certificate
  /// What it sells.
  package nonisolated let apps: [SandboxApp]

  private let authority: SandboxAuthority
  private let now: @Sendable () -> Instant
  private var numbers: TransactionNumbers
  private var lines: PurchaseLines

  /// Opens the App Store whose state is in `directory`, which is made if its parent is there.
  package init(apps: [SandboxApp], directory: String, now: @escaping @Sendable () -> Instant)
    throws(SandboxError)
  {
    let directory = try PrivateDirectory(path: directory)
    authority = try SandboxAuthority(directory: directory, now: now())
    numbers = try TransactionNumbers(directory: directory, now: now())
    lines = try PurchaseLines(directory: directory)
    root = authority.root
    self.apps = apps
    self.now = now
  }

  /// Sells, and signs the proof of it.
  package func purchase(_ order: PurchaseOrder) throws(SandboxError) -> Purchase {
    let sale = try sell(order)
    let signer = authority.signer
    do {
      return Purchase(
        transactionId: sale.transactionId, originalTransactionId: sale.line.originalTransactionId,
        productId: sale.product.productId, account: sale.account,
        signedTransactionInfo: try signer.sign(payload: sale.transaction),
        signedRenewalInfo: try sale.signedRenewalInfo(signer))
    } catch { throw .cryptographyFailed(error) }
  }

  /// Sells, and makes one of the documents in which Apple would speak of it.
  package func document(
    _ kind: SandboxDocumentKind, about order: PurchaseOrder
  ) throws(SandboxError) -> String {
    let sale = try sell(order)
    let document: String?
    do { document = try sale.document(kind, by: authority) } catch {
      throw .cryptographyFailed(error)
    }
    guard let document else { throw .refused(.notASubscription(order.productId)) }
    return document
  }

  private func sell(_ order: PurchaseOrder) throws(SandboxError) -> Sale {
    let signedDate = now()
    let (app, product) = try find(order)
    try check(order, of: product, now: signedDate)

    let transactionId = try numbers.take()
    let account = order.account ?? "account-\(transactionId)"
    let purchaseDate = order.purchaseDate ?? signedDate
    return Sale(
      app: app, product: product, account: account, transactionId: transactionId,
      line: try lines.line(
        PurchaseLine.Key(app: app, account: account, product: product),
        beginning: PurchaseLine(originalTransactionId: transactionId, originalPurchaseDate: purchaseDate)),
      webOrderLineItemId: product.type == .autoRenewableSubscription ? try numbers.take() : nil,
      appTransactionId: appTransactionId(app: app, account: account),
      appAccountToken: order.appAccountToken?.lowercased(), quantity: order.quantity,
      purchaseDate: purchaseDate, signedDate: signedDate)
  }

  private func find(_ order: PurchaseOrder) throws(SandboxError) -> (SandboxApp, SandboxProduct) {
    guard let app = apps.first(where: { $0.id == order.app }) else {
      throw .refused(.unknownApp(order.app, known: apps.map(\.id)))
    }
    guard let product = app.products.first(where: { $0.productId == order.productId }) else {
      throw .refused(.unknownProduct(order.productId, known: app.products.map(\.productId)))
    }
    return (app, product)
  }

  private func check(_ order: PurchaseOrder, of product: SandboxProduct, now: Instant) throws(SandboxError) {
    if let token = order.appAccountToken, !isUUID(token) { throw .refused(.invalidAppAccountToken) }
    // StoreKit sells up to ten at once of what can be bought again, and one of everything else.
    let isRepeatable = product.type == .consumable || product.type == .nonRenewingSubscription
    let allowed: ClosedRange<Int64> = 1...(isRepeatable ? 10 : 1)
    guard allowed.contains(order.quantity) else { throw .refused(.invalidQuantity(allowed: allowed)) }
    if let date = order.purchaseDate, date > now { throw .refused(.purchaseDateInFuture) }
  }
}

/// Apple's stable name for one account's copy of one app: always the same number for the same two.
private func appTransactionId(app: SandboxApp, account: String) -> String {
  // FNV-1a, 64 bits: even over any names, and the same on every machine.
  var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  for byte in "\(app.id)\u{0}\(account)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
  return String(700_000_000_000_000_000 + hash % 10_000_000_000_000_000)
}

/// Whether a text is a UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
private func isUUID(_ text: String) -> Bool {
  let groups = text.split(separator: "-", omittingEmptySubsequences: false)
  return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
    && groups.allSatisfy { $0.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit } }
}
