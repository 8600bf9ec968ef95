package import AppStore
internal import Bytes
package import Entitlements
internal import JSON
internal import SignedData
package import Store

/// What a genuine app receipt said, as far as it is needed once the receipt is gone.
///
/// It is evidence in the place of the receipt, which need not be kept. Purchases are in it only where Apple
/// could not be asked about them: what Apple signs says more.
package struct ReceiptContents: Hashable, Sendable {
  /// One purchase of the receipt.
  package struct Purchase: Hashable, Sendable {
    /// The entry, in the form in which `verifyReceipt` shows it.
    package let entry: LegacyTransaction
    /// What the product is sold as, by the receipt or else by the catalog.
    package let type: ProductType

    /// A purchase by its parts.
    package init(entry: LegacyTransaction, type: ProductType) {
      self.entry = entry
      self.type = type
    }
  }

  /// The copy of the app that the receipt is for.
  package struct AppInstall: Hashable, Sendable {
    /// The version that was bought first.
    package let originalApplicationVersion: String
    /// When it was bought first.
    package let originalPurchaseDate: Instant?

    /// A copy by its parts.
    package init(originalApplicationVersion: String, originalPurchaseDate: Instant?) {
      self.originalApplicationVersion = originalApplicationVersion
      self.originalPurchaseDate = originalPurchaseDate
    }
  }

  /// The SHA-256 of the receipt.
  package let receiptHash: [UInt8]
  /// When Apple made the receipt.
  package let creationDate: Instant
  /// `nil` where the receipt says of it only what it says of everybody's.
  package let copy: AppInstall?
  /// Empty once Apple was asked.
  package let purchases: [Purchase]

  /// A statement by its parts.
  package init(receiptHash: [UInt8], creationDate: Instant, copy: AppInstall?, purchases: [Purchase]) {
    self.receiptHash = receiptHash
    self.creationDate = creationDate
    self.copy = copy
    self.purchases = purchases
  }

  /// What is said of the purchases that say enough.
  package var transactions: [TransactionFact] {
    purchases.compactMap { try? TransactionFact($0.entry, type: $0.type, createdAt: creationDate) }
  }

  /// What is said of the copy of the app.
  package var appTransaction: AppTransactionFact? {
    copy.map { copy in
      AppTransactionFact(
        originalApplicationVersion: copy.originalApplicationVersion,
        originalPurchaseDate: copy.originalPurchaseDate, signedDate: creationDate)
    }
  }
}

// As evidence: JSON, with the names of `verifyReceipt` where it has one.
extension ReceiptContents {
  /// The bytes; the same for the same statement.
  package var encoded: [UInt8] {
    var json: JSONObject = [
      "receipt_sha256": .string(
        Base64.standard.encode(receiptHash)),
      "receipt_creation_date_ms": .string(String(creationDate.millisecondsSince1970)),
    ]
    if let copy {
      json["original_application_version"] = .string(copy.originalApplicationVersion)
      json["original_purchase_date_ms"] = copy.originalPurchaseDate.map {
        .string(String($0.millisecondsSince1970))
      }
    }
    if !purchases.isEmpty {
      json["in_app"] = .array(
        purchases.map { purchase in
          var entry = purchase.entry.json
          entry["product_type"] = .string(purchase.type.rawValue)
          return .object(entry)
        })
    }
    return json.serialized()
  }

  /// Reads what ``encoded`` wrote; `nil` for anything else.
  package init?(_ bytes: [UInt8]) {
    guard case .object(let json)? = try? JSONValue(parsing: bytes),
      let receipt = try? LegacyReceipt(json: json), let date = receipt.receiptCreationDate,
      let text = json["receipt_sha256"]?.stringValue,
      let hash = Base64.standard.decode(text)
    else { return nil }
    self.init(
      receiptHash: hash, creationDate: date,
      copy: receipt.originalApplicationVersion.map { version in
        AppInstall(originalApplicationVersion: version, originalPurchaseDate: receipt.originalPurchaseDate)
      },
      purchases: (receipt.inApp ?? []).map { entry in
        Purchase(entry: entry, type: ProductType(rawValue: entry.json["product_type"]?.stringValue ?? ""))
      })
  }
}

extension Evidence.Kind {
  /// An app receipt, PKCS#7; kept only if the operator wants it. Nothing is derived from it.
  package static let appReceipt = Evidence.Kind(rawValue: "APP_RECEIPT")
  /// What an app receipt said; see ``ReceiptContents``.
  package static let receiptStatement = Evidence.Kind(rawValue: "RECEIPT_STATEMENT")
}
