internal import HTTP
internal import NIOCore
internal import Platform
internal import Synchronization

/// Delivers results of background work to an event loop, those of several pieces of work together.
///
/// Each delivery wakes the loop, which takes precedence and interrupts the work: with one delivery for each result, a
/// batch of writes would cost two context switches for each of its responses.
final class LoopMailbox: Sendable {
  private let loop: any EventLoop
  private let waiting = Mutex<[@Sendable () -> Void]>([])

  init(_ loop: any EventLoop) { self.loop = loop }

  /// Runs `work` on the loop: at once, or with that of other results if it comes from work on `threads`.
  func deliver(from threads: BackgroundThreads?, _ work: @escaping @Sendable () -> Void) {
    guard let threads else { return loop.execute(work) }
    let isFirst = waiting.withLock { waiting in
      waiting.append(work)
      return waiting.count == 1
    }
    if isFirst { threads.whenIdle { self.deliverWaiting() } }
  }

  private func deliverWaiting() {
    let all = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    loop.execute { for work in all { work() } }
  }
}

/// The HTTP handler of a listener.
struct HTTPResponder: Sendable {
  let handler: HTTPHandler
  /// Answers every request at once instead.
  let refusal: (@Sendable (HTTPRequest) -> HTTPResponse)?
  /// The threads on which a request is handled; `nil` for those of Swift.
  let threads: @Sendable (HTTPRequest) -> BackgroundThreads?
  /// Whether a request needs no credential.
  let isPublic: @Sendable (HTTPRequest) -> Bool
  /// Whether a request may use the last quarter of ``waiting``.
  let isPreferred: @Sendable (HTTPRequest) -> Bool
  let waiting: WaitingRequests

  /// Calls the handler as a task, and `end` with its response on the loop of `mailbox`, later.
  func start(
    _ request: HTTPRequest, _ mailbox: LoopMailbox, end: @escaping @Sendable (HTTPResponse) -> Void
  ) -> Task<Void, Never>? {
    if let refusal {
      mailbox.deliver(from: nil) { end(refusal(request)) }
      return nil
    }
    guard let threads = threads(request) else {
      return Task { [handler] in
        let response = await handler(request)
        mailbox.deliver(from: nil) { end(response) }
      }
    }
    let bytes = request.waitingBytes
    guard waiting.begin(bytes, preferred: isPreferred(request)) else {
      mailbox.deliver(from: nil) { end(.tooManyWaiting) }
      return nil
    }
    return Task(executorPreference: threads) { [handler, waiting] in
      waiting.end(bytes)
      let response = await handler(request)
      mailbox.deliver(from: threads) { end(response) }
    }
  }
}
