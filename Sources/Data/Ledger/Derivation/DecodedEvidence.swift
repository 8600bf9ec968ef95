internal import AppStore
internal import Entitlements
internal import SignedData
package import Store

/// What one piece of evidence says, as far as the state depends on it.
enum DecodedEvidence: Sendable {
  case transaction(TransactionFact)
  case renewal(RenewalFact)
  case appTransaction(AppTransactionFact)
  case command(OperatorCommand)
  case notification(NotificationContents)
  case receipt(ReceiptContents)
  /// Nothing that this version understands; kept, and understood after an upgrade by replaying.
  case nothing

  /// What evidence says that was believed when it came. Its verification is not repeated: the verdict is
  /// part of the evidence.
  init(_ evidence: Evidence) {
    guard evidence.verdict == .accepted, let body = evidence.content.body else {
      self = .nothing
      return
    }
    self = Self.read(body, as: evidence.kind) ?? .nothing
  }

  private static func read(_ body: [UInt8], as kind: Evidence.Kind) -> DecodedEvidence? {
    switch kind {
    case .signedTransaction:
      document(body).flatMap { try? TransactionFact(JWSTransactionDecodedPayload(json: $0.payload)) }
        .map(DecodedEvidence.transaction)
    case .signedRenewalInfo:
      document(body).flatMap { try? RenewalFact(JWSRenewalInfoDecodedPayload(json: $0.payload)) }
        .map(DecodedEvidence.renewal)
    case .signedAppTransaction:
      document(body).flatMap { try? AppTransactionFact(AppTransactionPayload(json: $0.payload)) }
        .map(DecodedEvidence.appTransaction)
    case .operatorCommand: OperatorCommand(body).map(DecodedEvidence.command)
    case .notificationV2: NotificationContents(body: body).map(DecodedEvidence.notification)
    case .receiptStatement: ReceiptContents(body).map(DecodedEvidence.receipt)
    default: nil
    }
  }

  private static func document(_ body: [UInt8]) -> UnverifiedJWS? {
    try? UnverifiedJWS(String(decoding: body, as: UTF8.self))
  }
}

extension Evidence.Kind {
  /// A JWS app transaction of Apple's.
  package static let signedAppTransaction = Evidence.Kind(rawValue: "SIGNED_APP_TRANSACTION")
}

extension AppTransactionFact {
  /// The number of the line under which a copy of the app is kept.
  ///
  /// Documents from before Apple gave copies a number are told apart by the moment of the purchase, which
  /// two people may share. So such a line may belong to several customers.
  var lineID: String {
    guard appTransactionID.isEmpty else { return LineKey.appTransactionPrefix + appTransactionID }
    let moment = originalPurchaseDate.map { String($0.millisecondsSince1970) } ?? ""
    return "\(LineKey.appTransactionPrefix)\(moment)-\(originalApplicationVersion)"
  }
}
