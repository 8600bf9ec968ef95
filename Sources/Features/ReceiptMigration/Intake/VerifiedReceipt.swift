package import AppReceipt
internal import AppStore
internal import Entitlements
internal import JSON
internal import Ledger
internal import SignedData
internal import Store

/// A receipt that local verification or `verifyReceipt` accepted.
struct VerifiedReceipt: Sendable {
  /// The PKCS#7 document.
  let content: EvidenceContent
  /// The environment that the receipt states; for the answer of `verifyReceipt`, the one that accepted it.
  let environment: Environment
  /// The time at which the contents were true.
  let creationDate: Instant
  /// The app install that the receipt describes; `nil` for those of Apple's sandbox, which all state the same version.
  let appInstall: ReceiptContents.AppInstall?
  /// All entries, also those with the transaction id 0.
  let purchases: [ReceiptContents.Purchase]

  /// The original transaction ids, each once, in the order of the receipt, without those of StoreKit testing.
  var lines: [String] {
    var seen: Set<String> = []
    return purchases.compactMap(\.entry.lineID).filter { $0.isTransactionID && seen.insert($0).inserted }
  }

  /// Whether it has purchases, all with the transaction id 0 of StoreKit testing.
  var hasOnlyZeros: Bool { !purchases.isEmpty && lines.isEmpty }

  /// Whether a purchase has the transaction id 0.
  var hasZeros: Bool {
    purchases.contains { $0.entry.lineID.map { !$0.isTransactionID } ?? true }
  }

  /// Returns the contents about the app install and the purchases in `lines`.
  func contents(about lines: Set<String>) -> ReceiptContents {
    ReceiptContents(
      receiptHash: content.hash, creationDate: creationDate, appInstall: appInstall,
      purchases: purchases.filter { $0.entry.lineID.map(lines.contains) ?? false })
  }
}

extension ReceiptRejection {
  /// The reason why a verified receipt is rejected for its contents when it is submitted with a device identifier; `nil` if
  /// it is not. An empty identifier is not compared.
  package static func found(in payload: AppReceiptPayload, device: [UInt8]) -> ReceiptRejection? {
    guard device.isEmpty || (try? payload.isFor(device: device)) == true else { return .wrongDevice }
    let ids = payload.purchases.map { $0.originalTransactionID ?? $0.transactionID ?? "" }
    return ids.isEmpty || ids.contains { $0.isTransactionID } ? nil : .transactionIDZero
  }
}

extension VerifiedReceipt {
  /// A receipt whose signature was verified.
  init(_ payload: AppReceiptPayload, _ document: [UInt8], environment: Environment, of app: AppDefinition) {
    content = EvidenceContent(hashing: document)
    self.environment = environment
    // A verified receipt has one: its certificates were verified as of that instant.
    creationDate = payload.creationDate ?? Instant(millisecondsSince1970: 0)
    appInstall = .init(
      payload.originalApplicationVersion, payload.originalPurchaseDate, until: payload.expirationDate,
      in: environment)
    purchases = payload.purchases.compactMap { purchase in
      (try? LegacyTransaction(json: purchase.json)).map {
        ReceiptContents.Purchase(entry: $0, type: app.type(of: $0, stated: purchase.productType))
      }
    }
  }

  /// A receipt that `verifyReceipt` accepted. Of a repeated transaction, the later entry has more fields.
  init(
    _ response: VerifyReceiptResponse, _ document: [UInt8], environment: Environment, of app: AppDefinition
  ) {
    let receipt = response.receipt
    content = EvidenceContent(hashing: document)
    self.environment = environment
    creationDate = receipt?.receiptCreationDate ?? Instant(millisecondsSince1970: 0)
    appInstall = .init(
      receipt?.originalApplicationVersion, receipt?.originalPurchaseDate, until: receipt?.expirationDate,
      in: environment)
    var purchases: [ReceiptContents.Purchase] = []
    var indices: [String: Int] = [:]
    let original: [(LegacyTransaction, Instant?)] = (receipt?.inApp ?? []).map { ($0, nil) }
    // Apple's current data, unlike what the receipt had at its creation.
    let latest = (response.latestReceiptInfo ?? []).map { ($0, receipt?.requestDate) }
    for (entry, date) in original + latest {
      let purchase = ReceiptContents.Purchase(
        entry: entry, type: app.type(of: entry, stated: nil), statedAt: date)
      if let index = entry.transactionId.flatMap({ indices[$0] }) {
        purchases[index] = purchase
      } else {
        entry.transactionId.map { indices[$0] = purchases.count }
        purchases.append(purchase)
      }
    }
    self.purchases = purchases
  }
}

extension ReceiptContents.AppInstall {
  /// `nil` if the receipt does not describe this install: in the sandbox all installs have the version 1.0 of 2013.
  fileprivate init?(
    _ version: String?, _ purchaseDate: Instant?, until expirationDate: Instant?, in environment: Environment
  ) {
    guard let version, environment == .production || version != "1.0" else { return nil }
    self.init(
      originalApplicationVersion: version, originalPurchaseDate: purchaseDate, expirationDate: expirationDate)
  }
}

extension LegacyTransaction {
  /// The `original_transaction_id`. Receipts of Xcode do not have it.
  fileprivate var lineID: String? { originalTransactionId ?? transactionId }
}

extension AppDefinition {
  /// Returns the product type in the receipt, or the catalog's if the receipt has none.
  fileprivate func type(of entry: LegacyTransaction, stated: ProductType?) -> ProductType {
    switch stated {
    case nil, .unrecognized?: entry.productId.flatMap { products[$0]?.type } ?? .unrecognized("")
    case let stated?: stated
    }
  }
}

extension String {
  /// Whether this can be a transaction id of Apple's: StoreKit testing uses 0 for all.
  var isTransactionID: Bool { !isEmpty && contains { $0 != "0" } }
}
