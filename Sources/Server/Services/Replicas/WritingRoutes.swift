internal import HTTP

/// The routes of the edge that write: notifications, `verifyReceipt` and the exchange of apps without a backend. The
/// leader executes them; other replicas hand them to it.
package struct WritingRoutes: Sendable {
  private let notifications: NotificationEndpoint
  private let verifyReceipt: VerifyReceiptEndpoint
  private let deviceSync: DeviceSyncEndpoint

  package init(
    notifications: NotificationEndpoint, verifyReceipt: VerifyReceiptEndpoint, deviceSync: DeviceSyncEndpoint
  ) {
    self.notifications = notifications
    self.verifyReceipt = verifyReceipt
    self.deviceSync = deviceSync
  }

  /// The route pattern of a path; `nil` if it is another one.
  func route(of path: String) -> String? {
    switch path {
    case _ where deviceSync.serves(path): DeviceSyncEndpoint.route
    case _ where notifications.serves(path): "/notifications/{app}"
    case _ where VerifyReceiptEndpoint.serves(path): "/verifyReceipt"
    default: nil
    }
  }

  /// Responds in this process.
  func respond(to request: HTTPRequest) async -> HTTPResponse {
    switch request.path {
    case let path where notifications.serves(path): await notifications.respond(to: request)
    case let path where deviceSync.serves(path): await deviceSync.respond(to: request)
    default: await verifyReceipt.respond(to: request)
    }
  }

  /// Judges a request in a replica that does not write: what is wrong in any case goes no further, and a notification
  /// that verifies is confirmed as soon as it is in the inbox.
  func judge(_ request: HTTPRequest) -> LocalVerdict {
    switch request.path {
    case let path where notifications.serves(path): notifications.judge(request)
    case let path where deviceSync.serves(path): deviceSync.judge(request)
    default: verifyReceipt.judge(request)
    }
  }

  /// The endpoint of a request that is a notification of Apple's.
  func notificationEndpoint(for request: HTTPRequest) -> NotificationEndpoint? {
    notifications.serves(request.path) ? notifications : nil
  }
}

/// The finding of a replica that does not write about a request.
enum LocalVerdict: Sendable {
  /// It goes no further.
  case refused(HTTPResponse)
  /// It is confirmed with this response as soon as it is in the inbox; `seal` is for ``ForwardedContext/seal``.
  case accepted(HTTPResponse, seal: [UInt8])
  /// The leader decides.
  case undecided
}
