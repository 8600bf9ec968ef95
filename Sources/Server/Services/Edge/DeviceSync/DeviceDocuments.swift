internal import AppStore
internal import Bytes
internal import Entitlements
internal import Ledger
internal import RPC
internal import SignedData
internal import Store

/// The verified documents of one device: all of one app, one environment and one Apple account.
struct DeviceDocuments: Sendable {
  /// The environment of the app transaction; transactions of another one are rejected.
  let environment: AppStore.Environment
  /// Identifies one Apple account's install of the app.
  let appTransactionID: String
  /// The app transaction as a fact, which grants access by the version of the first purchase.
  let appTransaction: AppTransactionFact
  /// The line of the app transaction.
  let install: LineKey
  /// The purchases of the transactions, each once.
  let lines: [LineKey]
  /// The `appAccountToken` that all transactions with one share, in lower case; `nil` without one.
  let appAccountToken: String?
  /// Identifies the installation among those of the app install and its purchases; 32 bytes.
  let installation: [UInt8]

  /// Verifies the app transaction, which identifies the account.
  ///
  /// - Throws: `PERMISSION_DENIED` or `INVALID_ARGUMENT` with the reason of the verification; `NO_APP_TRANSACTION_ID`.
  static func verifyAppTransaction(
    _ request: DeviceSyncRequest, of app: AppDefinition, with verifier: SignedDataVerifier
  ) throws(Status) -> AppTransactionPayload {
    let payload = try verified("signedAppTransaction") { () throws(VerificationError) in
      try verifier.verifyAppTransaction(
        request.signedAppTransaction, for: app.identity, environments: Set(app.environments))
    }
    guard payload.appTransactionId?.isEmpty == false, payload.receiptType != nil else {
      throw Status(
        .invalidArgument, reason: "NO_APP_TRANSACTION_ID",
        "the app transaction has no appTransactionId; the app must be built with Xcode 16.4 or later",
        field: "signedAppTransaction")
    }
    return payload
  }

  /// The line of an app transaction that ``verifyAppTransaction(_:of:with:)`` returned.
  static func install(of appTransaction: AppTransactionPayload, _ app: AppDefinition) -> LineKey {
    LineKey(
      appID: app.id, environment: appTransaction.receiptType ?? .production,
      lineID: LineKey.appTransactionPrefix + (appTransaction.appTransactionId ?? ""))
  }

  /// Verifies the transactions, which must be of the account of `appTransaction`.
  ///
  /// - Throws: the status of the first document that fails: `OTHER_APP_TRANSACTION`, `NO_PURCHASE`, `OTHER_DEVICE`, or
  ///   the reason of the verification.
  init(
    _ request: DeviceSyncRequest, _ appTransaction: AppTransactionPayload, of app: AppDefinition,
    with verifier: SignedDataVerifier
  ) throws(Status) {
    guard let appTransactionID = appTransaction.appTransactionId, let environment = appTransaction.receiptType
    else { throw Status(.invalidArgument, reason: "NO_APP_TRANSACTION_ID", "there is no appTransactionId") }
    self.environment = environment
    self.appTransactionID = appTransactionID
    do throws(FactError) {
      self.appTransaction = try AppTransactionFact(appTransaction)
    } catch {
      throw Status(.invalidArgument, reason: error.reason, error.description, field: "signedAppTransaction")
    }
    install = Self.install(of: appTransaction, app)
    var lines: [LineKey] = []
    var tokens: Set<String> = []
    for document in request.signedTransactions {
      let payload = try Self.verified("signedTransactions") { () throws(VerificationError) in
        try verifier.verifyTransaction(document, for: app.identity, environments: [environment])
      }
      guard payload.appTransactionId == appTransactionID else { throw Self.otherAccount }
      guard let purchase = payload.originalTransactionId, !purchase.isEmpty else {
        throw Status(
          .invalidArgument, reason: "NO_PURCHASE", "a transaction has no originalTransactionId",
          field: "signedTransactions")
      }
      let line = LineKey(appID: app.id, environment: environment, lineID: purchase)
      if !lines.contains(line) { lines.append(line) }
      if let token = payload.appAccountToken { tokens.insert(token.lowercased()) }
    }
    self.lines = lines
    appAccountToken = tokens.count == 1 ? tokens.first : nil
    installation = try Self.installation(request, appTransaction)
  }

  /// The id of the device if the app transaction confirms it, otherwise the random id that the app sent.
  ///
  /// `deviceVerification` is the SHA-384 of the nonce and `AppStore.deviceVerificationID`, both in lower case (Apple,
  /// "AppTransaction/deviceVerification").
  private static func installation(
    _ request: DeviceSyncRequest, _ appTransaction: AppTransactionPayload
  ) throws(Status) -> [UInt8] {
    guard let deviceID = request.deviceVerificationID else {
      return SHA256.hash(Array("installation \(request.installationID ?? "")".utf8)[...])
    }
    guard let nonce = appTransaction.deviceVerificationNonce?.lowercased(),
      let expected = appTransaction.deviceVerification.flatMap({ Base64.standard.decodeLeniently($0) }),
      constantTimeEquals(SHA384.hash(Array((nonce + deviceID).utf8)[...]), expected)
    else {
      throw Status(
        .permissionDenied, reason: "OTHER_DEVICE", "the app transaction was signed for another device",
        field: "deviceVerificationId")
    }
    return SHA256.hash(Array("device \(deviceID)".utf8)[...])
  }

  private static let otherAccount = Status(
    .permissionDenied, reason: "OTHER_APP_TRANSACTION",
    "a transaction belongs to another install than the app transaction", field: "signedTransactions")

  /// Runs a verification; its error becomes a status with the member that has the document.
  private static func verified<Payload: Sendable>(
    _ field: String, _ verify: () throws(VerificationError) -> Verified<Payload>
  ) throws(Status) -> Payload {
    do throws(VerificationError) {
      return try verify().payload
    } catch {
      throw Status(rejected: .notVerified(error), field: field)
    }
  }
}
