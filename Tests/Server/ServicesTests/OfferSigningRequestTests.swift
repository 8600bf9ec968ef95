import AppStore
import Entitlements
import RPC
import Testing
import Wire

@testable import Services

/// The validation of requests for offer signatures.
@Suite struct OfferSigningRequestTests {
  private let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [
      ProductDefinition(
        productID: "monthly", type: .autoRenewableSubscription, subscriptionGroup: "pro", level: 1,
        entitlements: ["pro"]),
      ProductDefinition(productID: "lifetime", type: .nonConsumable, entitlements: ["pro"]),
    ])

  private func status(_ form: OfferSignatureForm, _ change: (inout SignOfferRequest) -> Void) -> Status? {
    var request = SignOfferRequest.with {
      $0.form = form
      ($0.productId, $0.offerIdentifier, $0.transactionId) = ("monthly", "spring", "2000001")
    }
    change(&request)
    return thrownStatus { [request] in _ = try OfferSigningRequest(request, in: app) }
  }

  @Test(
    "Promotional offers need a subscription of the catalog and an offer",
    arguments: [OfferSignatureForm.promotionalLegacy, .promotionalJws])
  func promotional(form: OfferSignatureForm) {
    #expect(status(form) { _ in } == nil)
    #expect(status(form) { $0.transactionId = "" } == nil)
    let missing = status(form) { $0.productId = "" }
    #expect(missing?.reason == "MISSING_FIELD" && missing?.invalidField == "product_id")
    let unknown = status(form) { $0.productId = "weekly" }
    #expect(unknown?.code == .notFound && unknown?.reason == "UNKNOWN_PRODUCT")
    #expect(status(form) { $0.productId = "lifetime" }?.reason == "NOT_A_SUBSCRIPTION")
    #expect(status(form) { $0.offerIdentifier = "" }?.invalidField == "offer_identifier")
  }

  @Test("An introductory offer needs the transaction whose customer it is about")
  func introductory() {
    #expect(status(.introductoryEligibilityJws) { $0.offerIdentifier = "" } == nil)
    let missing = status(.introductoryEligibilityJws) { $0.transactionId = "" }
    #expect(missing?.reason == "MISSING_FIELD" && missing?.invalidField == "transaction_id")
  }

  @Test("A request of Advanced Commerce is an object with what StoreKit requires")
  func advancedCommerce() {
    func check(_ json: String) -> Status? {
      status(.advancedCommerceJws) { $0.advancedCommerceRequestJson = json }
    }
    let reference = #""requestInfo": {"requestReferenceId": "8e0c"}"#
    #expect(check(#"{"operation": "CREATE", "version": "1", \#(reference)}"#) == nil)
    for (json, reason) in [
      ("", "MISSING_FIELD"), ("{", "MALFORMED_JSON"), ("[]", "MALFORMED_JSON"), ("{}", "MISSING_FIELD"),
      (#"{"version": "1", \#(reference)}"#, "MISSING_FIELD"),
      (#"{"operation": "CREATE", \#(reference)}"#, "MISSING_FIELD"),
      (#"{"operation": "CREATE", "version": "1", "requestInfo": {}}"#, "MISSING_FIELD"),
      (#"{"operation": "", "version": "1", \#(reference)}"#, "MISSING_FIELD"),
      (
        #"{"operation": "CREATE_ONE_TIME_CHARGE", "version": "1", \#(reference), "item": {"price": "4.99"}}"#,
        "INVALID_FIELD"
      ),
      (
        #"{"operation": "MODIFY_SUBSCRIPTION", "version": "1", \#(reference), "retainBillingCycle": 1}"#,
        "INVALID_FIELD"
      ),
    ] {
      let refused = check(json)
      #expect(refused?.reason == reason, "\(json)")
      #expect(refused?.invalidField == "advanced_commerce_request_json", "\(json)")
    }
  }

  @Test("A request has one of the forms of the contract")
  func forms() {
    #expect(status(.unspecified) { _ in }?.reason == "MISSING_FIELD")
    let unknown = status(.unrecognized(99)) { _ in }
    #expect(unknown?.reason == "INVALID_FIELD" && unknown?.invalidField == "form")
  }
}
