import AppStore
import Foundation
import JSON
import Testing

@testable import Sandbox

@Suite("Notifications on their way")
final class DeliveryTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "delivery-\(UUID().uuidString)")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  @Test("An end breaks off what is being sent, and it is still to be sent")
  func end() async throws {
    let (posts, asked) = AsyncStream.makeStream(of: Void.self)
    let store = try AppStoreSimulator(
      apps: [DemoWorld.app], directory: folder.path, now: { DemoWorld.start },
      poster: DeafPoster(asked: asked))
    _ = try await store.perform(
      .notificationURL, Parameters(["app": "demo", "url": "http://service", "version": 2]))
    _ = try await store.perform(.testNotification, Parameters(["app": "demo"]))
    let running = Task { await store.run() }
    _ = await posts.first { _ in true }
    running.cancel()
    await running.value
    let world = await store.world
    #expect(world.dueNotices.count == 1 && world.notices.allSatisfy(\.attempts.isEmpty))
  }
}

/// Tells that it was asked to post something, and then waits for an answer that never comes.
private struct DeafPoster: NotificationPoster {
  let asked: AsyncStream<Void>.Continuation

  func post(_ body: [UInt8], to url: String) async -> Sandbox.SendAttemptResult {
    asked.yield()
    try? await Task.sleep(for: .seconds(3600))
    return .timedOut
  }

  func ask(_ body: [UInt8], at url: String) async -> (result: Sandbox.SendAttemptResult, answer: [UInt8]) {
    (await post(body, to: url), [])
  }
}
