package import AppStore

/// Brings notifications to a developer's server.
package protocol NotificationPoster: Sendable {
  /// Posts a body of JSON, and says what came of it.
  func post(_ body: [UInt8], to url: String) async -> SendAttemptResult
  /// The same, and brings the answer.
  func exchange(_ body: [UInt8], with url: String) async -> (result: SendAttemptResult, response: [UInt8])
}
