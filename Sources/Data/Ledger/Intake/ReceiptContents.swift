package import AppStore
internal import Bytes
package import Entitlements
internal import JSON
internal import Store

/// The contents of a verified app receipt that are still needed when the receipt is not retained.
///
/// They are stored as evidence instead of the receipt. They include purchases only if Apple could not be
/// queried about them, because Apple's signed transactions state more.
package struct ReceiptContents: Hashable, Sendable {
  /// One purchase of the receipt.
  package struct Purchase: Hashable, Sendable {
    /// The entry, in the form in which `verifyReceipt` shows it.
    package let entry: LegacyTransaction
    /// The product's type, from the receipt or, if it has none, from the catalog.
    package let type: ProductType
    /// When Apple stated it, if that was after the creation of the receipt: `latest_receipt_info` is as of the request.
    package let statedAt: Instant?

    /// Creates a purchase from its parts.
    package init(entry: LegacyTransaction, type: ProductType, statedAt: Instant? = nil) {
      self.entry = entry
      self.type = type
      self.statedAt = statedAt
    }
  }

  /// The app install that the receipt documents.
  package struct AppInstall: Hashable, Sendable {
    /// The version at the first purchase or download.
    package let originalApplicationVersion: String
    /// The time of the first purchase or download.
    package let originalPurchaseDate: Instant?
    /// When the receipt expires; `nil` unless an organization bought the app.
    package let expirationDate: Instant?

    /// Creates an app install from its parts.
    package init(
      originalApplicationVersion: String, originalPurchaseDate: Instant?, expirationDate: Instant? = nil
    ) {
      self.originalApplicationVersion = originalApplicationVersion
      self.originalPurchaseDate = originalPurchaseDate
      self.expirationDate = expirationDate
    }
  }

  /// The SHA-256 of the receipt.
  package let receiptHash: [UInt8]
  /// When Apple made the receipt.
  package let creationDate: Instant
  /// `nil` if the receipt has only the placeholder that every receipt of its environment has.
  package let appInstall: AppInstall?
  /// Empty if Apple was queried.
  package let purchases: [Purchase]

  /// Creates contents from their parts.
  package init(receiptHash: [UInt8], creationDate: Instant, appInstall: AppInstall?, purchases: [Purchase]) {
    self.receiptHash = receiptHash
    self.creationDate = creationDate
    self.appInstall = appInstall
    self.purchases = purchases
  }

  /// The purchases that state enough for a fact.
  package var transactions: [TransactionFact] {
    purchases.compactMap {
      try? TransactionFact($0.entry, type: $0.type, createdAt: $0.statedAt ?? creationDate)
    }.withUpgradesMarked
  }

  /// The app install as a fact.
  package var appTransaction: AppTransactionFact? {
    appInstall.map { install in
      AppTransactionFact(
        originalApplicationVersion: install.originalApplicationVersion,
        originalPurchaseDate: install.originalPurchaseDate,
        receiptExpiresDate: install.expirationDate, signedDate: creationDate)
    }
  }
}

// The form as evidence: JSON, with the member names of `verifyReceipt`.
extension ReceiptContents {
  /// The bytes; equal contents have equal bytes.
  package var encoded: [UInt8] {
    var json: JSONObject = [
      "receipt_sha256": .string(
        Base64.standard.encode(receiptHash)),
      "receipt_creation_date_ms": .string(String(creationDate.millisecondsSince1970)),
    ]
    if let appInstall {
      json["original_application_version"] = .string(appInstall.originalApplicationVersion)
      json["original_purchase_date_ms"] = appInstall.originalPurchaseDate.map {
        .string(String($0.millisecondsSince1970))
      }
      json["expiration_date_ms"] = appInstall.expirationDate.map {
        .string(String($0.millisecondsSince1970))
      }
    }
    if !purchases.isEmpty {
      json["in_app"] = .array(
        purchases.map { purchase in
          var entry = purchase.entry.json
          entry["product_type"] = .string(purchase.type.rawValue)
          entry["stated_at_ms"] = purchase.statedAt.map { .string(String($0.millisecondsSince1970)) }
          return .object(entry)
        })
    }
    return json.serialized()
  }

  /// Parses ``encoded``; `nil` for anything else.
  package init?(_ bytes: [UInt8]) {
    guard case .object(let json)? = try? JSONValue(parsing: bytes),
      let receipt = try? LegacyReceipt(json: json), let date = receipt.receiptCreationDate,
      let text = json["receipt_sha256"]?.stringValue,
      let hash = Base64.standard.decode(text)
    else { return nil }
    self.init(
      receiptHash: hash, creationDate: date,
      appInstall: receipt.originalApplicationVersion.map { version in
        AppInstall(
          originalApplicationVersion: version, originalPurchaseDate: receipt.originalPurchaseDate,
          expirationDate: receipt.expirationDate)
      },
      purchases: (receipt.inApp ?? []).map { entry in
        Purchase(
          entry: entry, type: ProductType(rawValue: entry.json["product_type"]?.stringValue ?? ""),
          statedAt: entry.json["stated_at_ms"]?.stringValue.flatMap(Int64.init)
            .map(Instant.init(millisecondsSince1970:)))
      })
  }
}
