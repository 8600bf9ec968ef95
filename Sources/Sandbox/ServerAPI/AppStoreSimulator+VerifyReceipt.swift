internal import AppReceipt
internal import AppStore
internal import HTTP
internal import JSON
internal import SignedData

/// `verifyReceipt`, as Apple's sandbox answers it.
extension AppStoreSimulator {
  func verifyReceipt(_ request: HTTPRequest) async -> HTTPResponse {
    if faults.take(.serverError) != nil { return status(.unavailable) }
    guard request.method == "POST" else { return status(.notPosted) }
    catchUp()
    guard let json = try? JSONValue(parsing: request.body).objectValue,
      let asked = try? VerifyReceiptRequest(json: json), let text = asked.receiptData,
      let document = Base64.standard.decode(Array(text.utf8)[...]),
      let unverified = try? UnverifiedReceipt(document)
    else { return status(.malformedOrTemporary) }
    guard let receipt = try? AppReceiptPayload(parsing: unverified.content) else {
      return status(.malformedOrTemporary)
    }
    if receipt.receiptType?.environment == .production { return status(.productionReceiptInSandbox) }
    guard let app = apps.first(where: { $0.identity.bundleID == receipt.bundleID }),
      isGenuine(document, app)
    else { return status(.notAuthenticated) }
    if let secret = world.settings[app.id]?.sharedSecret, asked.password != secret {
      return status(.sharedSecretMismatch)
    }
    guard let account = account(of: receipt, app) else { return status(.accountNotFound) }
    do {
      return .json(200, try answer(asked, text, receipt, account, app).serialized())
    } catch {
      return status(.internalDataAccess)
    }
  }

  private func status(_ status: VerifyReceiptStatus) -> HTTPResponse {
    let body = JSONObject(present: [
      ("status", JSONValue(status.rawValue)),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("is_retryable", status.mayPass ? true : nil),
    ])
    return .json(200, body.serialized())
  }

  private func isGenuine(_ document: [UInt8], _ app: SandboxApp) -> Bool {
    guard let anchors = try? TrustAnchors.apple().adding(root, for: .sandbox),
      let verifier = try? SignedDataVerifier(anchors: anchors)
    else { return false }
    let receipt: Verified<AppReceiptPayload>? = try? verifier.verifyReceipt(
      document, for: app.identity, environments: [.sandbox])
    return receipt != nil
  }

  /// Whose receipt it is: the account of a purchase in it, or else the one that its opaque value names.
  private func account(of receipt: AppReceiptPayload, _ app: SandboxApp) -> String? {
    let sold = receipt.purchases.lazy.compactMap { $0.transactionID.flatMap { Int64($0) } }
      .compactMap { self.world.transactions[$0] }.first
    if let sold { return sold.account }
    return world.accounts.keys.first { name in
      receipt.opaqueValue.map { $0 == Array(appTransactionID(app: app.id, account: name).utf8.prefix(16)) }
        ?? false
    }
  }

  private func answer(
    _ asked: VerifyReceiptRequest, _ text: String, _ receipt: AppReceiptPayload, _ account: String,
    _ app: SandboxApp
  ) throws(CryptographyError) -> JSONObject {
    let paper = legacyPaper(of: app)
    var answer = JSONObject(present: [
      ("status", 0),
      ("environment", .string(Environment.sandbox.rawValue)),
      ("receipt", .object(content(receipt, account, app, paper))),
    ])
    let latest = paper.latestReceiptInfo(account, onlyLatest: asked.excludeOldTransactions ?? false)
    let pending = paper.pendingRenewalInfo(account)
    if !latest.isEmpty {
      answer["latest_receipt_info"] = .array(latest)
      answer["latest_receipt"] = .string(try receiptPaper.appReceipt(of: account, in: app))
    }
    if !pending.isEmpty { answer["pending_renewal_info"] = .array(pending) }
    return answer
  }

  private func content(
    _ receipt: AppReceiptPayload, _ account: String, _ app: SandboxApp, _ paper: LegacyPaper
  ) -> JSONObject {
    let known = receipt.purchases.compactMap { $0.transactionID.flatMap { Int64($0) } }
    var json = JSONObject(present: [
      ("receipt_type", .string(ReceiptType.productionSandbox.rawValue)),
      ("adam_id", 0), ("app_item_id", 0),
      ("bundle_id", .string(app.identity.bundleID)),
      ("application_version", receipt.applicationVersion.map(JSONValue.string)),
      ("download_id", 0), ("version_external_identifier", 0),
      ("original_application_version", receipt.originalApplicationVersion.map(JSONValue.string)),
      (
        "in_app",
        .array(
          known.compactMap { world.transactions[$0] }.map { .object(paper.transaction($0, isLatest: false)) })
      ),
    ])
    json.add(legacyDate: receipt.creationDate, as: "receipt_creation_date")
    json.add(legacyDate: world.now, as: "request_date")
    json.add(legacyDate: receipt.originalPurchaseDate, as: "original_purchase_date")
    json.add(legacyDate: world.accounts[account]?.copies[app.id]?.preorderDate, as: "preorder_date")
    return json
  }
}
