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
}
