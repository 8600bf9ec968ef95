import Pages
import Testing
import Wire

@testable import Console

@Suite struct CodeTextsTests {
  @Test("No two states of an entitlement have the same text")
  func states() {
    let texts = (1...17).map { Text.name(of: EntitlementState(rawValue: $0)) }
    #expect(Set(texts).count == texts.count && texts.allSatisfy { !$0.isEmpty && !$0.contains("_") })
    #expect(Text.name(of: EntitlementState(rawValue: 99)) != "")
  }

  @Test(
    "The conditions of a segment are in words, and one day is no days",
    arguments: [
      (SegmentFilter.with { $0.endsWithinDays = 1 }, "ends within 1 day"),
      (.with { $0.minPaidDays = 365 }, "365 days of paid service or more"),
      (
        .with {
          $0.states = [.activeAutoRenewOn, .billingRetry]
          $0.paymentModes = [.freeTrial]
        }, "active (renews) or in billing retry · free trial"
      ),
      (.with { $0.inAppOwnershipTypes = [.familyShared] }, "shared by the family"),
      (SegmentFilter(), "all purchases"),
    ])
  func conditions(filter: SegmentFilter, expected: String) {
    #expect(filter.conditions == expected)
  }

  @Test(
    "The reason of a rejected notification has a text",
    arguments: ["WRONG_BUNDLE", "WRONG_APP", "WRONG_ENVIRONMENT", "BAD_SIGNATURE", "NOT_A_JWS"])
  func rejections(code: String) {
    let text = Text.cause(ofRejection: code)
    #expect(!text.isEmpty && text != Format.words(code) && text.lowercased().first == text.first)
  }

  @Test("A code of Apple's without a text is in words")
  func unknown() {
    #expect(Text.refundReason("SOMETHING_NEW") == "something new" && Text.refundReason("") == "")
    #expect(Text.refund("REFUND_PRORATED") == "in part" && Text.refund("FAMILY_REVOKE") == "")
    #expect(Text.cause(ofRequest: "SOMETHING_NEW") == nil)
    #expect(Text.cause(ofRejection: "SOMETHING_NEW") == "something new")
  }
}
