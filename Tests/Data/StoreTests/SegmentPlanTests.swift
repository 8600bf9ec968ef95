import AppStore
import Entitlements
import Store
import TestSupport
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct SegmentPlanTests {
  private static let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example.ocean", appAppleID: nil),
    environments: [.sandbox], products: [])

  private static func plan(_ change: (inout SegmentFilter) -> Void) -> SegmentPlan {
    var filter = SegmentFilter()
    change(&filter)
    let place = AppEnvironment(appID: "ocean", environment: .sandbox)
    return SegmentPlan(
      SegmentQuery(SegmentConditions(filter, in: app), of: place, at: at(0), limit: 1))
  }

  @Test("Segments of few purchases are read from an index of them")
  func indexes() throws {
    let connection = try Connection.writer(path: ":memory:")
    try Schema.create(connection)
    let plans = [
      ("purchase_state_shared", Self.plan { $0.ownerships = [.familyShared, .assigned] }),
      ("purchase_state_unclaimed", Self.plan { $0.isUnclaimed = true }),
      ("purchase_state_win_back", Self.plan { $0.hasWinBackOffer = true }),
      ("purchase_state_consent", Self.plan { $0.needsPriceConsent = true }),
    ]
    for (index, plan) in plans {
      let selection = try #require(plan.selections.first)
      let statement = try connection.prepare(
        "EXPLAIN QUERY PLAN SELECT row_number FROM purchase_state WHERE \(selection.rows)")
      #expect(try statement.step())
      #expect(statement.text(3)?.contains(index) == true, "\(index)")
      statement.reset()
    }
  }

  @Test("Customers' own purchases are too many for the index of shared ones")
  func purchased() {
    #expect(Self.plan { $0.ownerships = [.purchased, .familyShared] }.selections.isEmpty)
  }
}
