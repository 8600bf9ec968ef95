import AppStore
import Entitlements
import RPC
import Testing
import Wire

@testable import Services

/// The checks of fields that many requests have.
@Suite struct RequestReadingTests {
  private let app = AppDefinition(
    id: "ocean", identity: AppIdentity(bundleID: "com.example", appAppleID: nil),
    environments: [.sandbox, .xcode],
    products: [ProductDefinition(productID: "pro", type: .nonConsumable, entitlements: ["pro"])])

  @Test("A missing app and an unknown one are different errors, which name the field")
  func apps() throws {
    let catalog = Catalog([app])
    #expect(try catalog.app("ocean").id == "ocean")
    let missing = thrownStatus { _ = try catalog.app("") }
    #expect(missing?.code == .invalidArgument && missing?.reason == "MISSING_FIELD")
    let unknown = thrownStatus { _ = try catalog.app("sea") }
    #expect(unknown?.code == .notFound && unknown?.reason == "UNKNOWN_APP")
    #expect(unknown?.message == "unknown app 'sea'; configured: ocean")
    #expect([missing, unknown].map { $0?.invalidField } == ["app", "app"])
  }

  @Test("Without an environment, a request is about the app's first one; others must be the app's")
  func environments() throws {
    #expect(try app.environment(.unspecified) == .sandbox)
    #expect(try app.environment(.xcode) == .xcode)
    for other: Wire.Environment in [.production, .unrecognized(99)] {
      let status = thrownStatus { _ = try app.environment(other) }
      #expect(status?.reason == "WRONG_ENVIRONMENT" && status?.invalidField == "environment")
    }
  }

  @Test(
    "A transaction id is looked up in the environment that a request names, also the app's first, or in all")
  func searchedEnvironments() throws {
    #expect(try app.searchedEnvironments(.unspecified) == [.sandbox, .xcode])
    #expect(try app.searchedEnvironments(.sandbox) == [.sandbox])
    #expect(thrownStatus { _ = try app.searchedEnvironments(.production) }?.reason == "WRONG_ENVIRONMENT")
  }

  @Test("An entitlement that no product grants is not found")
  func entitlements() throws {
    #expect(thrownStatus { try RequestValidation.entitlement("pro", of: app) } == nil)
    #expect(thrownStatus { try RequestValidation.entitlement("", of: app) }?.reason == "MISSING_FIELD")
    let unknown = thrownStatus { try RequestValidation.entitlement("gold", of: app) }
    #expect(unknown?.code == .notFound && unknown?.reason == "UNKNOWN_ENTITLEMENT")
  }

  @Test(
    "A page has 100 rows by default and at most 1,000",
    arguments: [(0, 100), (1, 1), (1_000, 1_000), (1_001, 1_000), (.max, 1_000)] as [(Int32, Int)])
  func pageSize(requested: Int32, size: Int) throws {
    #expect(try RequestValidation.pageSize(requested) == size)
  }

  @Test("A page size below 0 is invalid")
  func negativePageSize() {
    let status = thrownStatus { _ = try RequestValidation.pageSize(-1) }
    #expect(status?.reason == "INVALID_FIELD" && status?.invalidField == "page_size")
  }

  @Test("Times are from the years 1 to 9999")
  func times() throws {
    let last = GoogleProtobuf.Timestamp.with { ($0.seconds, $0.nanos) = (253_402_300_799, 999_999_999) }
    #expect(try Instant(last, "as_of").millisecondsSince1970 == 253_402_300_799_999)
    for (seconds, nanos) in [(253_402_300_800, 0), (-62_135_596_801, 0), (0, -1), (0, 1_000_000_000)] {
      let time = GoogleProtobuf.Timestamp.with { ($0.seconds, $0.nanos) = (Int64(seconds), Int32(nanos)) }
      #expect(thrownStatus { _ = try Instant(time, "as_of") }?.invalidField == "as_of")
    }
  }

  @Test("A read mask selects members of the response; none selects all")
  func readMask() throws {
    let mask = GoogleProtobuf.FieldMask.with { $0.paths = ["signature", "nonce"] }
    let some = try ReadMask(mask, of: SignOfferResponse.self)
    #expect(some.includes("signature") && some.includes("nonce") && !some.includes("timestamp"))
    for none in [nil, GoogleProtobuf.FieldMask()] {
      #expect(try ReadMask(none, of: SignOfferResponse.self).includes("timestamp"))
    }
    let unknown = GoogleProtobuf.FieldMask.with { $0.paths = ["signature", "price"] }
    let status = thrownStatus { _ = try ReadMask(unknown, of: SignOfferResponse.self) }
    #expect(status?.reason == "INVALID_FIELD" && status?.invalidField == "read_mask")
  }
}
