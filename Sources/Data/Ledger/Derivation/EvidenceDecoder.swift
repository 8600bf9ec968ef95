internal import AppStore
internal import Entitlements
internal import JSON
internal import SignedData
internal import Store

/// One item of a piece of evidence that the state depends on.
enum DecodedItem: Sendable {
  case transaction(TransactionFact)
  case renewal(RenewalFact)
  case appTransaction(AppTransactionFact)
  case command(OperatorCommand)
  /// Apple ended these seat claims (`UNCLAIM_SEATS`); `at` is the signature's time, if it has one.
  case endedSeatClaims([String], at: Instant?)
  /// The notification itself. It follows the documents inside it.
  case notification(NotificationContents)
  /// A notification that was not verified, with the reason code of its rejection.
  case rejectedNotification(reason: String)

  /// The id of the line that a fact belongs to; `nil` for items that are no facts of Apple's.
  var lineID: String? {
    switch self {
    case .transaction(let fact): fact.originalTransactionID
    case .renewal(let fact): fact.originalTransactionID
    case .appTransaction(let fact): fact.lineID
    case .command, .endedSeatClaims, .notification, .rejectedNotification: nil
    }
  }
}

/// Decodes stored evidence into items. It has no state and needs no store.
enum EvidenceDecoder {
  /// Returns the items of `evidence` in the order in which they apply.
  ///
  /// A notification and a receipt decode to several items. Evidence that was rejected, whose body was purged,
  /// or whose kind this version does not support decodes to none; replay decodes it after an upgrade.
  /// Signatures are not verified again, because the verdict is part of the evidence.
  static func decode(_ evidence: Evidence) -> [DecodedItem] {
    if case .rejected(let reason) = evidence.verdict {
      return evidence.kind.isNotification ? [.rejectedNotification(reason: reason)] : []
    }
    guard let body = evidence.content.body else { return [] }
    return switch evidence.kind {
    case .signedTransaction:
      items(body) { .transaction(try TransactionFact(JWSTransactionDecodedPayload(json: $0))) }
    case .signedRenewalInfo:
      items(body) { .renewal(try RenewalFact(JWSRenewalInfoDecodedPayload(json: $0))) }
    case .signedAppTransaction:
      items(body) { .appTransaction(try AppTransactionFact(AppTransactionPayload(json: $0))) }
    case .operatorCommand: OperatorCommand(body).map { [.command($0)] } ?? []
    case .notificationV2: NotificationContents(body: body)?.items ?? []
    case .receiptStatement: ReceiptContents(body)?.items ?? []
    default: []
    }
  }

  /// Returns the command in `evidence`; `nil` if it is evidence of another kind.
  static func command(in evidence: Evidence) -> OperatorCommand? {
    guard case .command(let command)? = decode(evidence).first else { return nil }
    return command
  }

  private static func items(
    _ body: [UInt8], _ decode: (JSONObject) throws -> DecodedItem
  ) -> [DecodedItem] {
    guard let document = try? UnverifiedJWS(String(decoding: body, as: UTF8.self)),
      let item = try? decode(document.payload)
    else { return [] }
    return [item]
  }
}

extension NotificationContents {
  /// Whether the notification contains a signed document.
  var hasDocuments: Bool { transaction != nil || renewal != nil || appTransaction != nil }

  /// The documents inside, the seat claims that Apple ended, and the notification itself.
  var items: [DecodedItem] {
    var items: [DecodedItem] = []
    items.reserveCapacity(4)
    if var transaction {
      // The transaction itself does not show that it was refunded before.
      if payload.notificationType == .refundReversed {
        transaction.details.reversals = [transaction.signedDate]
      }
      items.append(.transaction(transaction))
    }
    if let renewal { items.append(.renewal(renewal)) }
    if let appTransaction { items.append(.appTransaction(appTransaction)) }
    if let claims = payload.unclaimInfo?.unclaimSeatIds, !claims.isEmpty {
      items.append(.endedSeatClaims(claims, at: payload.signedDate))
    }
    items.append(.notification(self))
    return items
  }
}

extension ReceiptContents {
  /// The purchases that state enough for a fact, and the app install.
  var items: [DecodedItem] {
    transactions.map(DecodedItem.transaction) + (appTransaction.map { [.appTransaction($0)] } ?? [])
  }
}

extension AppTransactionFact {
  /// The id of the line that stores the app install.
  ///
  /// Documents from before Apple introduced `appTransactionId` are distinguished by purchase time and
  /// version, which two customers may share. Such a line may therefore have several owners.
  var lineID: String {
    guard appTransactionID.isEmpty else { return LineKey.appTransactionPrefix + appTransactionID }
    let purchased = originalPurchaseDate.map { String($0.millisecondsSince1970) } ?? ""
    return "\(LineKey.appTransactionPrefix)\(purchased)-\(originalApplicationVersion)"
  }
}
