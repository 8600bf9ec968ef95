internal import AppStore
internal import JSON
internal import SignedData

/// The fault for which Apple does not show a developer's answer to a request for a retention message. Apple
/// reports none of these; they are for testers.
struct RetentionAnswerFault: Error, Hashable {
  /// Stable, such as `LATE`.
  let code: String
  let explanation: String

  init(_ code: String, _ explanation: String) {
    self.code = code
    self.explanation = explanation
  }
}

/// Apple's checks of a RealtimeResponseBody.
extension AppStoreSimulator {
  /// Apple gives up after this time, in milliseconds (Setting up your endpoint for real-time requests).
  static let realtimeLimit: Int64 = 700
  private static let realtimeMembers = [
    "message", "alternateProduct", "promotionalOffer", "advancedCommerceInfo",
  ]

  /// Checks an answer, and returns what Apple shows. The checks are those that Apple's documentation names, in an order
  /// that reports the most basic fault first.
  ///
  /// - Throws: ``RetentionAnswerFault``.
  func shownMessage(
    _ reply: ReceiverResponse, milliseconds: Int64, about line: SubscriptionLine
  ) throws(RetentionAnswerFault) -> JSONObject {
    guard reply.result == .success, reply.status == 200 else {
      throw RetentionAnswerFault("NO_ANSWER", "the server did not answer with the status 200")
    }
    guard milliseconds <= Self.realtimeLimit else {
      throw RetentionAnswerFault(
        "LATE", "the answer took \(milliseconds) ms; Apple waits \(Self.realtimeLimit)")
    }
    guard let answer = (try? JSONValue(parsing: reply.body))?.objectValue else {
      throw RetentionAnswerFault("MALFORMED", "the answer is not a JSON object")
    }
    let given = Self.realtimeMembers.filter { answer[$0] != nil }
    guard given.count == 1, let kind = given.first, let content = answer[kind]?.objectValue else {
      throw RetentionAnswerFault(
        "MALFORMED", "the answer has not exactly one of \(Self.realtimeMembers.joined(separator: ", "))")
    }
    let messages = world.settings[line.app]?.messages ?? RetentionMessages()
    let id = content["messageIdentifier"]?.stringValue ?? ""
    try check(message: id, in: messages, hasImage: kind == "message")
    switch kind {
    case "alternateProduct": try check(alternate: content, about: line)
    case "promotionalOffer": try check(offer: content, about: line)
    case "advancedCommerceInfo":
      throw RetentionAnswerFault(
        "NOT_ADVANCED_COMMERCE", "the subscription is not one of Advanced Commerce")
    default: break
    }
    return ["source": "REALTIME", "kind": .string(kind), "messageIdentifier": .string(id)]
  }

  /// Returns the message that Apple shows without a valid answer: the default message of the product and the locale.
  func fallbackMessage(of line: SubscriptionLine, locale: String) -> JSONObject {
    let messages = world.settings[line.app]?.messages ?? RetentionMessages()
    let id = messages.defaults[.init(productID: line.productID, locale: locale)]
    guard let id, (try? check(message: id, in: messages, hasImage: true)) != nil else {
      return ["source": "NONE"]
    }
    return ["source": "DEFAULT", "kind": "message", "messageIdentifier": .string(id)]
  }

  /// Only text is shown with an offer or another product (Setting up retention messages).
  private func check(
    message id: String, in messages: RetentionMessages, hasImage: Bool
  ) throws(RetentionAnswerFault) {
    guard let message = messages.messages[id] else {
      throw RetentionAnswerFault("UNKNOWN_MESSAGE", "there is no message '\(id)'")
    }
    guard message.state == .approved else {
      throw RetentionAnswerFault("MESSAGE_NOT_APPROVED", "the message is \(message.state.rawValue)")
    }
    guard hasImage || message.content["image"] == nil else {
      throw RetentionAnswerFault(
        "MESSAGE_WITH_IMAGE", "an offer or another product needs a message without image")
    }
    guard message.images.allSatisfy({ messages.images[$0]?.state == .approved }) else {
      throw RetentionAnswerFault("IMAGE_NOT_APPROVED", "an image of the message is not approved")
    }
  }

  private func check(
    alternate content: JSONObject, about line: SubscriptionLine
  ) throws(RetentionAnswerFault) {
    let id = content["productId"]?.stringValue ?? ""
    let product = try product(id, inGroupOf: line)
    guard id != line.productID else {
      throw RetentionAnswerFault("SAME_PRODUCT", "the subscription has the product '\(id)' already")
    }
    guard let plan = content["billingPlanType"]?.stringValue else { return }
    let isMonthly = plan == BillingPlan.monthly.rawValue && product.monthlyPrice != nil
    guard isMonthly || plan == BillingPlan.billedUpfront.rawValue else {
      throw RetentionAnswerFault("UNKNOWN_BILLING_PLAN", "the product '\(id)' has no plan '\(plan)'")
    }
  }

  private func check(
    offer content: JSONObject, about line: SubscriptionLine
  ) throws(RetentionAnswerFault) {
    let signed: (claims: JSONObject, parameters: JSONObject)
    let subscription = String(line.id)
    let jws = content["promotionalOfferSignatureV2"]?.stringValue
    switch (jws, content["promotionalOfferSignatureV1"]?.objectValue) {
    case (let jws?, nil):
      guard let payload = (try? UnverifiedJWS(jws))?.payload else {
        throw RetentionAnswerFault("INVALID_SIGNATURE", "promotionalOfferSignatureV2 is not a JWS")
      }
      guard payload["transactionId"]?.stringValue == subscription else {
        throw RetentionAnswerFault("INVALID_SIGNATURE", "the claim transactionId is not '\(subscription)'")
      }
      signed = (payload, ["offerSignature": .string(jws)])
    case (nil, let signature?):
      signed = (
        signature,
        JSONObject(present: [
          ("offerSignature", signature["encodedSignature"]), ("keyIdentifier", signature["keyId"]),
          ("nonce", signature["nonce"]), ("timestamp", signature["timestamp"]),
        ])
      )
    default: throw RetentionAnswerFault("MALFORMED", "the offer has not exactly one signature")
    }
    let productID = signed.claims["productId"]?.stringValue ?? ""
    let offerID = signed.claims["offerIdentifier"]?.stringValue ?? ""
    _ = try product(productID, inGroupOf: line)
    let offers = world.settings[line.app]?.offers[productID] ?? []
    guard offers.contains(where: { $0.id == offerID && $0.type == .promotional }) else {
      throw RetentionAnswerFault("UNKNOWN_OFFER", "'\(productID)' has no promotional offer '\(offerID)'")
    }
    var order = signed.parameters
    order["app"] = .string(line.app)
    order["productId"] = .string(productID)
    order["offer"] = .string(offerID)
    do throws(ActionError) { try checkOffer(.purchases, Parameters(order)) } catch {
      throw RetentionAnswerFault("INVALID_SIGNATURE", error.description)
    }
  }

  /// A product that the subscriber can switch to.
  private func product(
    _ id: String, inGroupOf line: SubscriptionLine
  ) throws(RetentionAnswerFault) -> SandboxProduct {
    guard let product = world.product(id, of: line.app) else {
      throw RetentionAnswerFault("UNKNOWN_PRODUCT", "the app has no product '\(id)'")
    }
    guard product.type == .autoRenewableSubscription,
      product.group == world.product(line.productID, of: line.app)?.group
    else {
      throw RetentionAnswerFault("OTHER_GROUP", "'\(id)' is not in the subscription group")
    }
    return product
  }
}
