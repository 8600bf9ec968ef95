import AppStore
import Entitlements
import RPC
import Testing
import Wire

@testable import Services

/// The filters of segments in the contract.
@Suite struct SegmentMessagesTests {
  private let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil), environments: [.sandbox],
    products: [ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"])])

  private func status(_ change: (inout Wire.SegmentFilter) -> Void) -> Status? {
    let message = Wire.SegmentFilter.with(change)
    return thrownStatus { _ = try Entitlements.SegmentFilter(message, in: app) }
  }

  @Test("A filter with every condition is the same after it was stored and sent back")
  func roundTrip() throws {
    let message = Wire.SegmentFilter.with {
      $0.states = [.activeAutoRenewOff, .billingRetry]
      ($0.productIds, $0.subscriptionGroups) = (["monthly", "pro"], ["main"])
      ($0.entitlements, $0.storefronts) = (["pro"], ["DEU", "USA"])
      $0.paymentModes = [.standard, .freeTrial, .introductoryOffer, .subscriptionOffer]
      $0.sinceFrom = GoogleProtobuf.Timestamp(millisecondsSince1970: 1_000)
      $0.sinceBefore = GoogleProtobuf.Timestamp(millisecondsSince1970: 2_000)
      ($0.minDaysInState, $0.maxDaysInState, $0.endsWithinDays) = (0, 30, 7)
      ($0.commitmentEndsWithinDays, $0.minPaidDays) = (36_500, 1)
      ($0.needsPriceConsent, $0.hasWinBackOffer, $0.unclaimed) = (true, true, false)
      $0.inAppOwnershipTypes = [.purchased, .familyShared, .assigned]
    }
    let filter = try Entitlements.SegmentFilter(message, in: app)
    #expect(try Entitlements.SegmentFilter(Wire.SegmentFilter(filter), in: app) == filter)
    #expect(filter.states == [.activeAutoRenewOff, .billingRetry] && filter.isUnclaimed == false)
    #expect(filter.minDaysInState == 0 && filter.commitmentEndsWithinDays == 36_500)
    #expect(filter.ownerships.count == 3 && filter.modes.count == 4)
  }

  @Test("The numbers of states, which are stored, are those of the contract")
  func states() {
    for state in SegmentState.selectable {
      let message = Wire.EntitlementState(rawValue: Int32(state.rawValue))
      #expect(message.protoName == "ENTITLEMENT_STATE_\(state.name)")
      #expect(status { $0.states = [message] } == nil)
    }
    for none: Wire.EntitlementState in [.unspecified, .missing, .offPlatform, .unrecognized(99)] {
      #expect(status { $0.states = [none] }?.invalidField == "filter.states")
    }
  }

  @Test("Answers and segments name the same state for each reason that a purchase can have")
  func reasons() {
    for reason in EntitlementReason.allCases where SegmentState(reason) != .missing {
      #expect(Int64(Wire.EntitlementState(reason).rawValue) == SegmentState(reason).rawValue, "\(reason)")
    }
  }

  @Test("Days have bounds")
  func days() {
    #expect(status { $0.minDaysInState = -1 }?.invalidField == "filter.min_days_in_state")
    #expect(status { $0.maxDaysInState = 0 }?.invalidField == "filter.max_days_in_state")
    #expect(status { $0.minPaidDays = 36_501 }?.invalidField == "filter.min_paid_days")
  }

  @Test("A list of texts has at most 200, none of them empty")
  func lists() {
    #expect(status { $0.productIds = (1...200).map(String.init) } == nil)
    #expect(status { $0.productIds = (1...201).map(String.init) }?.invalidField == "filter.product_ids")
    #expect(status { $0.storefronts = [""] }?.invalidField == "filter.storefronts")
    #expect(status { $0.entitlements = ["gold"] }?.reason == "UNKNOWN_ENTITLEMENT")
    #expect(status { $0.paymentModes = [.unspecified] }?.invalidField == "filter.payment_modes")
    #expect(
      status { $0.inAppOwnershipTypes = [.unspecified] }?.invalidField == "filter.in_app_ownership_types")
  }
}
