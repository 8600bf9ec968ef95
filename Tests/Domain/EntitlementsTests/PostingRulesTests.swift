import AppStore
import Entitlements
import Reports
import TestSupport
import Testing

@Suite struct PostingRulesTests {
  /// The subscriptions of a random customer with prices, and renewals beside purchases.
  private static func payer(_ random: inout SplitMix64) -> CustomerFacts {
    let customer = randomCustomer(&random)
    let prices: [String: Int64] = ["monthly": 9_990, "yearly": 59_990, "plus": 14_990, "basic": 2_990]
    var facts = CustomerFacts(
      transactions: customer.transactions.map { transaction in
        transaction.with {
          $0.details.price = prices[$0.productID]
          ($0.details.currency, $0.details.storefront) = ("USD", "USA")
        }
      })
    for history in customer.renewalHistories { facts.insert(history) }
    return facts
  }

  @Test("Changed postings require a new postingRulesVersion; update it together with the hash below")
  func rules() {
    var random = SplitMix64(state: 42)
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var kinds: Set<Posting.Kind> = []
    for _ in 0..<300 {
      let facts = Self.payer(&random)
      for app in [fullApp, patientApp] {
        for posting in PayerPostings(facts, in: app, at: at(400)).postings {
          for part in [posting.fingerprint, UInt64(posting.line.utf8.count)] {
            hash = (hash ^ part) &* 0x100_0000_01B3
          }
          kinds.insert(posting.kind)
        }
      }
    }
    #expect(kinds.isSuperset(of: [.renewed, .recovered, .resubscribed, .lapsedBilling, .refundedOut]))
    #expect(postingRulesVersion == 4)
    #expect(hash == 5_823_851_526_115_960_481)
  }

  @Test(
    "The fingerprint of reports is the same in every process, and includes the rules and the renewal slack")
  func fingerprint() {
    #expect(fullApp.reportFingerprint == 17_295_456_134_797_138_898)
    #expect(patientApp.reportFingerprint != fullApp.reportFingerprint)
  }
}
