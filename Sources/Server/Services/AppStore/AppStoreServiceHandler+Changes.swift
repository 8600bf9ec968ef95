internal import AppStore
internal import AppStoreClient
internal import Entitlements
internal import FamilySharing
internal import JSON
internal import Ledger
internal import RPC
internal import SignedData
internal import Store
internal import Wire

// Calls that change data at Apple.
extension AppStoreServiceHandler {
  /// Extends a renewal date by 1 to 90 days. Customers other than the purchaser are rejected before
  /// the call to Apple (``refuse(_:about:_:_:)``).
  /// Apple's page: *Extend a Subscription Renewal Date*, which allows two extensions in a calendar year.
  ///
  /// - Throws: `MISSING_FIELD` without a purchase, `INVALID_FIELD` for another number of days, and
  ///   `APP_STORE_EXTENSION_FAILED` if Apple responds with `success` false, which its page does not explain.
  func extendRenewalDate(
    _ request: ExtendRenewalDateRequest, _ call: CallContext
  ) async throws(Status) -> Wire.ExtendRenewalDateResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
      let identifier = try once.requestIdentifier(request.requestIdentifier)
      let days = try days(request.extendByDays)
      try await refuse(
        .extendRenewalDate, about: request.originalTransactionId, request.app, request.environment)
      return try await changeOnce(
        once,
        .extendRenewalDate(
          of: request.originalTransactionId, byDays: days, reason: try ExtendReasonCode(request.reason),
          requestIdentifier: identifier),
        Record(
          "ExtendRenewalDate", about: request.originalTransactionId, by: request.actor, note: request.note),
        try self.call(request.app, request.environment, call)
      ) { (extended: AppStore.ExtendRenewalDateResponse) async throws(Status) in
        guard extended.success != false else {
          try await once.discard()
          throw Status(
            .failedPrecondition, reason: "APP_STORE_EXTENSION_FAILED",
            "App Store did not extend the renewal date: success is false")
        }
        return .with {
          $0.webOrderLineItemId = extended.webOrderLineItemId ?? ""
          $0.effectiveDate = extended.effectiveDate.map(GoogleProtobuf.Timestamp.init)
        }
      }
    }
  }

  /// Starts a mass extension, which Apple executes in the background; `GetMassExtensionStatus` reports its progress.
  /// The request names no purchase, so the record is in no timeline.
  /// Apple's page: *Extend Subscription Renewal Dates for All Active Subscribers*.
  func massExtendRenewalDate(
    _ request: MassExtendRenewalDateRequest, _ call: CallContext
  ) async throws(Status) -> Wire.MassExtendRenewalDateResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.productId, "product_id")
      let identifier = try once.requestIdentifier(request.requestIdentifier)
      return try await changeOnce(
        once,
        .massExtendRenewalDate(
          ofProduct: request.productId, byDays: try days(request.extendByDays),
          reason: try ExtendReasonCode(request.reason), requestIdentifier: identifier,
          storefrontCountryCodes: request.storefrontCountryCodes),
        Record("MassExtendRenewalDate", about: "", by: request.actor, note: request.note),
        try self.call(request.app, request.environment, call)
      ) { (extended: AppStore.MassExtendRenewalDateResponse) in
        .with { $0.requestIdentifier = extended.requestIdentifier ?? identifier }
      }
    }
  }

  /// Calls Apple each time: the progress is stored nowhere here.
  /// Apple's page: *Get Status of Subscription Renewal Date Extensions*.
  func getMassExtensionStatus(
    _ request: GetMassExtensionStatusRequest, _ call: CallContext
  ) async throws(Status) -> GetMassExtensionStatusResponse {
    try RequestValidation.given(request.productId, "product_id")
    try RequestValidation.given(request.requestIdentifier, "request_identifier")
    let call = try self.call(request.app, request.environment, call)
    let status: MassExtendRenewalDateStatusResponse = try await send(
      .massExtensionStatus(
        ofProduct: request.productId, requestIdentifier: request.requestIdentifier), call)
    return .with {
      $0.complete = status.complete ?? false
      $0.completeDate = status.completeDate.map(GoogleProtobuf.Timestamp.init)
      $0.succeededCount = status.succeededCount ?? 0
      $0.failedCount = status.failedCount ?? 0
    }
  }

  /// Sets the token at Apple. The call links nothing here: the token arrives with the documents that Apple signs
  /// afterwards.
  /// Apple's page: *Set App Account Token*. Apple rejects a family member's transaction, and a text that is no UUID.
  func setAppAccountToken(
    _ request: SetAppAccountTokenRequest, _ call: CallContext
  ) async throws(Status) -> SetAppAccountTokenResponse {
    let (request, once) = context.attributed(request, to: call)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try RequestValidation.given(request.originalTransactionId, "original_transaction_id")
      try RequestValidation.given(request.appAccountToken, "app_account_token")
      let call = try self.call(request.app, request.environment, call)
      return try await changeOnce(
        once, .setAppAccountToken(request.appAccountToken, of: request.originalTransactionId),
        Record(
          "SetAppAccountToken", about: request.originalTransactionId, by: request.actor, note: request.note),
        call
      ) {
        .with { $0.setAt = GoogleProtobuf.Timestamp(context.now(in: call.environment)) }
      }
    }
  }

  /// Requests a test notification of type `TEST` from Apple. It changes no data, but it is an operator's
  /// action and counts toward Apple's rate limit.
  /// Apple's page: *Request a Test Notification*. ``testNotificationStatus(_:_:)`` takes the returned token.
  func requestTest(
    _ request: RequestTestNotificationRequest, _ call: CallContext
  ) async throws(Status) -> RequestTestNotificationResponse {
    let once = Idempotency(of: request, call, context)
    return try await once.runExclusively(context.appleLocks) { () async throws(Status) in
      try await changeOnce(
        once, .testNotification,
        Record("RequestTestNotification", about: "", by: request.actor, note: request.note),
        try self.call(request.app, request.environment, call)
      ) { (answer: SendTestNotificationResponse) in
        .with { $0.testNotificationToken = answer.testNotificationToken ?? "" }
      }
    }
  }

  /// Validates the number of days of an extension: Apple accepts 1 to 90.
  private func days(_ days: Int32) throws(Status) -> Int {
    guard 1...90 ~= days else {
      throw .invalidField("extend_by_days", "extend_by_days is \(days) and must be from 1 to 90")
    }
    return Int(days)
  }

  /// The payload of the test notification as JSON, without verification; `nil` if it cannot be decoded.
  static func payloadJSON(_ signedPayload: String) -> String? {
    (try? UnverifiedJWS(signedPayload)).map { JSONValue.object($0.payload).text }
  }
}

extension ExtendReasonCode {
  /// A request without a reason is Apple's 0, `UNDECLARED`.
  fileprivate init(_ reason: ExtendReason) throws(Status) {
    switch reason {
    case .unspecified, .undeclared: self = .undeclared
    case .unrecognized: throw .unknownValue(of: "reason")
    case .customerSatisfaction: self = .customerSatisfaction
    case .other: self = .other
    case .serviceIssue: self = .serviceIssueOrOutage
    }
  }
}
