internal import AppReceipt
internal import AppStore
internal import Bytes
internal import HTTP
internal import JSON
internal import SignedData

/// `verifyReceipt` as Apple's sandbox implements it.
extension AppStoreSimulator {
  /// Responds to a request; errors are statuses in a response with HTTP 200. The receipt shows the account, and the
  /// response has the present state of its purchases.
  func verifyReceipt(_ request: HTTPRequest) async -> HTTPResponse {
    // Apple documents no limit for verifyReceipt.
    traffic.count("verifyReceipt")
    if let length = faults.take(.slow) { try? await Task.sleep(for: .milliseconds(length)) }
    if faults.take(.cut) != nil { return .connectionCut }
    if faults.take(.serverError) != nil { return status(.unavailable) }
    guard request.method == "POST" else { return status(.notPosted) }
    catchUp()
    guard let json = try? JSONValue(parsing: request.body).objectValue,
      let verifyRequest = try? VerifyReceiptRequest(json: json), let text = verifyRequest.receiptData,
      let document = Base64.standard.decode(text),
      let unverified = try? UnverifiedReceipt(document)
    else { return status(.malformedOrTemporary) }
    guard let receipt = try? AppReceiptPayload(parsing: unverified.content) else {
      return status(.malformedOrTemporary)
    }
    if receipt.receiptType?.environment == .production { return status(.productionReceiptInSandbox) }
    guard let app = apps.first(where: { $0.identity.bundleID == receipt.bundleID }),
      isIssuedHere(document, app)
    else { return status(.notAuthenticated) }
    if let secret = world.settings[app.id]?.sharedSecret, verifyRequest.password != secret {
      return status(.sharedSecretMismatch)
    }
    guard let account = account(of: receipt, app) else { return status(.accountNotFound) }
    do {
      return .json(200, try response(to: verifyRequest, receipt, account, app).json.serialized())
    } catch {
      return status(.internalDataAccess)
    }
  }

  private func status(_ status: VerifyReceiptStatus) -> HTTPResponse {
    .json(200, VerifyReceiptAnswer.failed(status, .sandbox).json.serialized())
  }

  /// Whether the simulator signed the receipt, for this app, before or after a rotation.
  private func isIssuedHere(_ document: [UInt8], _ app: SandboxApp) -> Bool {
    // A rotation changes from one root to the other, and receipts from before it stay valid.
    guard
      let anchors = try? TrustAnchors.apple().adding(root, for: .sandbox).adding(secondRoot, for: .sandbox),
      let verifier = try? SignedDataVerifier(anchors: anchors)
    else { return false }
    let receipt: Verified<AppReceiptPayload>? = try? verifier.verifyReceipt(
      document, for: app.identity, environments: [.sandbox])
    return receipt != nil
  }

  /// Returns the account of the receipt's purchases, otherwise the account that its opaque value identifies.
  private func account(of receipt: AppReceiptPayload, _ app: SandboxApp) -> String? {
    let sold = receipt.purchases.lazy.compactMap { $0.transactionID.flatMap { Int64($0) } }
      .compactMap { self.world.transaction($0) }.first
    if let sold { return sold.account }
    return world.accounts.keys.first { name in
      receipt.opaqueValue.map { $0 == Array(appTransactionID(app: app.id, account: name).utf8.prefix(16)) }
        ?? false
    }
  }

  private func response(
    to verifyRequest: VerifyReceiptRequest, _ receipt: AppReceiptPayload, _ account: String, _ app: SandboxApp
  ) throws(CryptographyError) -> VerifyReceiptAnswer {
    let document = legacyDocument(of: app)
    return .valid(
      .init(
        environment: .sandbox, receipt: content(receipt, account, app, document),
        latest: document.purchases(account, onlyLatest: verifyRequest.excludeOldTransactions ?? false),
        pending: document.renewals(account),
        latestReceipt: try receiptDocument.appReceipt(of: account, in: app)))
  }

  /// The receipt's own contents, with its purchases as they are now.
  private func content(
    _ receipt: AppReceiptPayload, _ account: String, _ app: SandboxApp, _ document: LegacyDocument
  ) -> LegacyReceiptContent {
    let known = receipt.purchases.compactMap { $0.transactionID.flatMap { Int64($0) } }
    var content = LegacyReceiptContent(bundleID: app.identity.bundleID)
    content.receiptType = ReceiptType.productionSandbox.rawValue
    content.applicationVersion = receipt.applicationVersion
    content.originalApplicationVersion = receipt.originalApplicationVersion
    let dated = Dictionary(
      document.purchases(account).map { ($0.transactionID, $0) }, uniquingKeysWith: { first, _ in first })
    content.purchases = known.compactMap { world.transaction($0) }
      .map { dated[String($0.id)] ?? document.purchase($0) }
    content.creationDate = receipt.creationDate
    content.requestDate = world.now
    content.originalPurchaseDate = receipt.originalPurchaseDate
    content.preorderDate = world.accounts[account]?.appInstalls[app.id]?.preorderDate
    return content
  }
}
