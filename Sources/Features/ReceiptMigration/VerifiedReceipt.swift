internal import AppReceipt
internal import AppStore
internal import Entitlements
internal import JSON
internal import Ledger
internal import SignedData
internal import Store

/// A receipt that was found genuine, by whomever.
struct VerifiedReceipt: Sendable {
  /// PKCS#7.
  let content: EvidenceContent
  let environment: Environment
  let creationDate: Instant
  let copy: ReceiptContents.AppInstall?
  let purchases: [ReceiptContents.Purchase]

  /// The original transaction ids, each once, in the order of the receipt; those that stand for nothing left
  /// out.
  var lines: [String] {
    var seen: Set<String> = []
    return purchases.compactMap(\.entry.originalTransactionId).filter {
      $0.standsForPurchase && seen.insert($0).inserted
    }
  }

  /// Whether it has purchases, but none that Apple numbered.
  var hasOnlyZeros: Bool { !purchases.isEmpty && lines.isEmpty }

  /// What it says of the copy of the app, and of the purchases in `lines`.
  func statement(about lines: Set<String>) -> ReceiptContents {
    ReceiptContents(
      receiptHash: content.hash, creationDate: creationDate, appInstall: copy,
      purchases: purchases.filter { $0.entry.originalTransactionId.map(lines.contains) ?? false })
  }
}

extension VerifiedReceipt {
  /// A receipt whose signature was verified.
  init(_ payload: AppReceiptPayload, _ document: [UInt8], environment: Environment, of app: AppDefinition) {
    content = EvidenceContent(hashing: document)
    self.environment = environment
    // A verified receipt has one: its certificates were judged at that moment.
    creationDate = payload.creationDate ?? Instant(millisecondsSince1970: 0)
    copy = .init(payload.originalApplicationVersion, payload.originalPurchaseDate, in: environment)
    purchases = payload.purchases.compactMap { purchase in
      (try? LegacyTransaction(json: purchase.json)).map {
        ReceiptContents.Purchase(entry: $0, type: app.type(of: $0, told: purchase.productType))
      }
    }
  }

  /// A receipt that `verifyReceipt` vouches for. Of a transaction that is there twice, the later says more.
  init(
    _ response: VerifyReceiptResponse, _ document: [UInt8], environment: Environment, of app: AppDefinition
  ) {
    let receipt = response.receipt
    content = EvidenceContent(hashing: document)
    self.environment = environment
    creationDate = receipt?.receiptCreationDate ?? Instant(millisecondsSince1970: 0)
    copy = .init(receipt?.originalApplicationVersion, receipt?.originalPurchaseDate, in: environment)
    var entries: [LegacyTransaction] = []
    var places: [String: Int] = [:]
    for entry in (receipt?.inApp ?? []) + (response.latestReceiptInfo ?? []) {
      let place = entry.transactionId.flatMap { places[$0] }
      if let place {
        entries[place] = entry
      } else {
        entry.transactionId.map { places[$0] = entries.count }
        entries.append(entry)
      }
    }
    purchases = entries.map { ReceiptContents.Purchase(entry: $0, type: app.type(of: $0, told: nil)) }
  }
}

extension ReceiptContents.AppInstall {
  /// `nil` where a receipt says nothing of this copy: in the sandbox all copies were "bought" with the version
  /// 1.0 in 2013.
  fileprivate init?(_ version: String?, _ purchaseDate: Instant?, in environment: Environment) {
    guard let version, environment == .production || version != "1.0" else { return nil }
    self.init(originalApplicationVersion: version, originalPurchaseDate: purchaseDate)
  }
}

extension AppDefinition {
  /// What a product is sold as: by the receipt, or else by the catalog.
  fileprivate func type(of entry: LegacyTransaction, told: ProductType?) -> ProductType {
    switch told {
    case nil, .unrecognized?: entry.productId.flatMap { products[$0]?.type } ?? .unrecognized("")
    case let told?: told
    }
  }
}

extension String {
  /// Whether it can be Apple's number of a purchase: StoreKit testing numbers everything 0.
  var standsForPurchase: Bool { !isEmpty && contains { $0 != "0" } }
}
