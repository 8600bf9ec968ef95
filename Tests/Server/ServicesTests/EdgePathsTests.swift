import Testing

@testable import Services

/// The paths of the edge that name an app.
@Suite struct EdgePathsTests {
  @Test(
    "verifyReceipt has Apple's path, alone or with environment and app",
    arguments: [
      ("/verifyReceipt", true), ("/verifyReceipt/", true), ("/verifyReceipt/ocean", true),
      ("/sandbox/verifyReceipt", true), ("/production/verifyReceipt/ocean", true),
      ("/xcode/verifyReceipt", false), ("/verifyReceipt/ocean/more", false), ("/sandbox", false),
      ("verifyReceipt", false), ("/verifyreceipt", false), ("/", false), ("", false),
    ])
  func verifyReceipt(path: String, isServed: Bool) {
    #expect(VerifyReceiptEndpoint.serves(path) == isServed)
  }

  @Test("A notification's app is the rest of its path, whatever it contains")
  func notifications() {
    #expect(NotificationEndpoint.appID(ofPath: "/notifications/ocean") == "ocean")
    #expect(NotificationEndpoint.appID(ofPath: "/notifications/a/b") == "a/b")
    #expect(NotificationEndpoint.appID(ofPath: "/notifications/") == "")
  }

  @Test(
    "Probes and the requests of Apple, RevenueCat and apps are accepted under any host name, calls of the API are not",
    arguments: [
      ("/healthz", true), ("/readyz", true), ("/metrics", true), ("/notifications/ocean", true),
      ("/retention/ocean", true), ("/import/revenuecat/ocean", true), ("/app/v1/ocean/sync", true),
      ("/verifyReceipt", false), ("/entitled.v1.EntitlementService/Check", false), ("/metrics/", false),
      ("/retention", false), ("/app/v1/ocean", false), ("/", false), ("", false),
    ])
  func hosts(path: String, isCalledByOthers: Bool) {
    #expect(EdgeRouter.isCalledByOthers(path) == isCalledByOthers)
  }
}
