internal import Platform

/// Sends HTTP requests with libcurl, which keeps and shares connections, and uses HTTP/2 where the host offers it.
///
/// It follows no redirects. Its thread ends when it is released.
package final class CurlClient: Sendable {
  private let loop: CurlLoop
  /// The error of the system if there is no thread.
  private let threadError: CInt?

  /// `connectionsPerHost` is the maximum number of connections to one host; further requests wait for one.
  package init(allowsHTTP2: Bool, connectionsPerHost: Int) {
    let loop = CurlLoop(allowsHTTP2: allowsHTTP2, connectionsPerHost: connectionsPerHost)
    self.loop = loop
    threadError = startBackgroundThread { loop.run() }
  }

  deinit { loop.add(.end) }

  /// Sends a request and reads the whole response. Cancelling the task ends the request.
  ///
  /// - Throws: ``CurlError``; a response with any status is none. After an error the server may have executed the
  ///   request.
  package func send(_ request: CurlRequest) async throws(CurlError) -> CurlResponse {
    if let threadError { throw .failed("no thread for HTTP requests: error \(threadError)") }
    let id = loop.makeID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { loop.start(CurlTransfer(id: id, request, $0)) }
    } onCancel: {
      loop.add(.cancel(id))
    }
    return try result.get()
  }
}
