internal import HTTP
internal import NIOCore
internal import Platform
internal import RPC
internal import Synchronization

/// Runs the producer of a streamed body, and passes its parts to the event loop of the connection.
final class StreamedBody: Sendable {
  private let mailbox = MessageMailbox(backlogBytes: 0)
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Starts the producer. On `loop`, `write` writes a part and returns whether the producer may continue at once; if not,
  /// ``resume()`` lets it. `end` ends the body after the last part.
  func start(
    _ stream: HTTPBodyStream, on loop: any EventLoop, write: @escaping @Sendable ([UInt8]) -> Bool,
    end: @escaping @Sendable () -> Void
  ) {
    let producer = Task(executorPreference: BackgroundThreads.shared) { [mailbox] in
      await stream.produce { part in
        do throws(Status) {
          try await mailbox.sending { resume in loop.execute { if write(part) { resume() } } }
          return true
        } catch {
          return false
        }
      }
      loop.execute(end)
    }
    task.withLock { $0 = producer }
  }

  /// Lets the producer continue, because the client has read enough.
  func resume() { mailbox.resumeSender() }

  /// Asks the producer to end, because the connection is to end.
  func retire() { task.withLock { $0 }?.cancel() }

  /// Ends the producer, because no more can be sent.
  func close() {
    mailbox.fail(.cancelled)
    retire()
  }
}
