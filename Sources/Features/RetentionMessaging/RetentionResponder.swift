internal import AppStore
internal import Entitlements
package import JSON
package import Ledger
internal import Platform
package import SignedData
package import Store

/// Decides about Apple's requests for retention messages, from the policy in memory and one short read.
///
/// Apple waits 700 ms (Setting up your endpoint). The read of the facts has ``readLimit``. Without the facts the answer
/// is nothing, so that Apple shows the message that it has by itself, and a family member or a customer with an open
/// refund never gets an offer by accident.
package struct RetentionResponder: Sendable {
  /// The limit of the read. The rest of an answer takes less than a millisecond.
  private static let readLimit = Duration.milliseconds(120)
  /// The distance in milliseconds between the signature's time and now at which a request counts as a copy. It is long
  /// because the clock of the sandbox may jump.
  private static let maxAge: Int64 = Instant.millisecondsPerDay
  /// Apple decides about a refund within two days, in milliseconds.
  private static let refundTime: Int64 = 2 * Instant.millisecondsPerDay

  private let store: any EntitlementStore
  private let verifier: SignedDataVerifier
  private let catalog: CurrentCatalog
  private let clocks: ServiceClocks
  private let signer: @Sendable (_ appID: String) -> OfferSigner?
  /// Nanoseconds of a monotonic clock.
  private let ticks: @Sendable () -> Int64

  /// - Parameters:
  ///   - store: has the facts about subscriptions.
  ///   - verifier: verifies the requests.
  ///   - catalog: has the policies.
  ///   - clocks: the times of the environments.
  ///   - signer: signs the offers of an app; `nil` for an app without a key.
  ///   - ticks: nanoseconds of a monotonic clock.
  package init(
    store: any EntitlementStore, verifier: SignedDataVerifier, catalog: CurrentCatalog,
    clocks: ServiceClocks, signer: @escaping @Sendable (String) -> OfferSigner?,
    ticks: @escaping @Sendable () -> Int64
  ) {
    self.store = store
    self.verifier = verifier
    self.catalog = catalog
    self.clocks = clocks
    self.signer = signer
    self.ticks = ticks
  }

  /// Decides about the request in a body, Apple's `RealtimeRequestBody`. Nothing is stored here.
  ///
  /// - Returns: the response, and the record to store with the decision, its reason and the time that it took.
  /// - Throws: ``RetentionRequestError``. No failure of the store is thrown: the answer is nothing then, with the
  ///   reason.
  package func respond(
    to body: [UInt8], of appID: String
  ) async throws(RetentionRequestError) -> RetentionResponse {
    let start = ticks()
    guard let app = catalog.value[appID] else { throw .unknownApp }
    let request = try verify(try Self.signedPayload(of: body), for: app)
    var record = try newRecord(of: request, app)
    let (decision, renewal) = await decide(about: record, app)
    var answer = decision
    var response: JSONObject?
    if decision.answer != .nothing {
      response = try? self.response(decision.answer, to: record, app)
      if response == nil { answer = RetentionDecision(.nothing, .cannotSign, rule: decision.rule) }
    }
    record.renewalProductID = renewal ?? ""
    record.set(answer)
    record.dueAt = record.followUp.nextEvaluation(
      after: record.receivedAt, until: app.retention?.outcomeDays ?? RetentionPolicy.standardOutcomeDays)
    record.microseconds = (ticks() - start) / 1_000
    return RetentionResponse(body: response, record: record)
  }

  /// The member `signedPayload` of a body in JSON.
  private static func signedPayload(of body: [UInt8]) throws(RetentionRequestError) -> String {
    let content: JSONValue
    do throws(JSONError) { content = try JSONValue(parsing: body, limits: .ofRequests) } catch {
      throw .malformed("the body is not JSON")
    }
    guard let payload = content.objectValue?["signedPayload"]?.stringValue else {
      throw .malformed("the body has no signedPayload")
    }
    return payload
  }

  /// Verifies the signature, the app and the environment of a request.
  private func verify(
    _ payload: String, for app: AppDefinition
  ) throws(RetentionRequestError) -> DecodedRealtimeRequestBody {
    let request: DecodedRealtimeRequestBody
    do throws(VerificationError) {
      request = try verifier.verifyRealtimeRequest(
        payload, for: app.identity, environments: Set(app.environments)
      ).payload
    } catch {
      throw .notVerified(error)
    }
    // Apple: "Always check that appAppleId matches"; the verifier checks it in Production only.
    if let expected = app.identity.appAppleID, let stated = request.appAppleId, stated != 0,
      stated != expected
    {
      throw .otherApp
    }
    return request
  }

  /// The record of a request before the decision.
  ///
  /// - Throws: ``RetentionRequestError/missingMember(_:)``, also for an id of the request of more than 64 bytes;
  ///   ``RetentionRequestError/tooOld``.
  private func newRecord(
    of request: DecodedRealtimeRequestBody, _ app: AppDefinition
  ) throws(RetentionRequestError) -> RetentionRequestRecord {
    guard let environment = request.environment else { throw .missingMember("environment") }
    guard let requestID = request.requestIdentifier, (1...64).contains(requestID.utf8.count) else {
      throw .missingMember("requestIdentifier")
    }
    guard let line = request.originalTransactionId, !line.isEmpty else {
      throw .missingMember("originalTransactionId")
    }
    guard let productID = request.productId else { throw .missingMember("productId") }
    let now = clocks.now(in: environment)
    let askedAt = request.signedDate ?? now
    guard abs(now.milliseconds(since: askedAt)) <= Self.maxAge else { throw .tooOld }
    var record = RetentionRequestRecord(
      requestID: requestID, line: LineKey(appID: app.id, environment: environment, lineID: line),
      productID: productID, askedAt: askedAt, receivedAt: now)
    record.locale = request.userLocale ?? ""
    return record
  }

  /// The decision, and the product with which the subscription was to renew.
  private func decide(
    about record: RetentionRequestRecord, _ app: AppDefinition
  ) async -> (RetentionDecision, renewal: String?) {
    guard let policy = app.retention else { return (RetentionDecision(.nothing, .notConfigured), nil) }
    let (line, now) = (record.line, record.receivedAt)
    let deadline = ContinuousClock.now + Self.readLimit
    let read = await withTimeLimit(Self.readLimit) {
      [store] () async -> Result<StoredSubscriber, StoreError> in
      do throws(StoreError) {
        return .success(
          try await store.read(.check, deadline: deadline) { snapshot throws(StoreError) in
            try StoredSubscriber(
              facts: snapshot.factsWithAppInstalls(of: line), isUnclaimed: snapshot.owners(of: line).isEmpty,
              hasOpenRefund: snapshot.hasOpenRefundRequest(
                about: line, since: now.advanced(byMilliseconds: -Self.refundTime)))
          })
      } catch {
        return .failure(error)
      }
    }
    switch read {
    case nil, .failure(.deadlineExceeded): return (RetentionDecision(.nothing, .late), nil)
    case .failure: return (RetentionDecision(.nothing, .storeUnavailable), nil)
    case .success(let stored):
      let renewal = stored.facts.renewals.first?.autoRenewProductID
      let subscriber = RetentionSubscriber(
        stored.facts, productID: record.productID, locale: record.locale, isUnclaimed: stored.isUnclaimed,
        hasOpenRefund: stored.hasOpenRefund, in: app, at: now)
      guard let subscriber else { return (RetentionDecision(.nothing, .unknownPurchase), renewal) }
      return (policy.decide(about: subscriber, in: app, at: now), renewal)
    }
  }

  /// The response to send; `nil` if the app has no key to sign an offer.
  private func response(
    _ answer: RetentionAnswer, to record: RetentionRequestRecord, _ app: AppDefinition
  ) throws(CryptographyError) -> JSONObject? {
    guard case .promotionalOffer = answer else { return answer.response() }
    guard let signer = signer(app.id) else { return nil }
    return try answer.response(to: record, signer)
  }
}

/// The stored facts about a subscriber, read in one snapshot.
private struct StoredSubscriber: Sendable {
  let facts: CustomerFacts
  let isUnclaimed: Bool
  let hasOpenRefund: Bool
}

/// The response to a request, and what to store about it.
package struct RetentionResponse: Sendable {
  /// Apple's `RealtimeResponseBody`; `nil`: no answer, so that Apple shows its default message.
  package let body: JSONObject?
  /// The request with the decision about it. Its outcome is evaluated later.
  package let record: RetentionRequestRecord
}

extension RetentionRequestRecord {
  /// Copies the decision into the stored form. An offer without a product is for the product of the request.
  fileprivate mutating func set(_ decision: RetentionDecision) {
    (reason, rule) = (decision.reason, decision.rule)
    switch decision.answer {
    case .nothing: answer = .nothing
    case .message(let id): (answer, messageID) = (.message, id)
    case .alternateProduct(let id, let product, _):
      (answer, messageID, offeredProductID) = (.alternateProduct, id, product)
    case .promotionalOffer(let id, let product, let offer, _):
      (answer, messageID) = (.promotionalOffer, id)
      (offeredProductID, offerID) = (product ?? productID, offer)
    }
  }
}
