internal import CCurl
internal import Glibc
internal import Synchronization

/// Runs the transfers of a ``CurlClient`` on one thread.
// Unchecked: only the thread in `run` uses the handle, except to wake that thread, which libcurl allows from any thread.
final class CurlLoop: @unchecked Sendable {
  enum Command {
    case start(CurlTransfer)
    /// Ends the transfer with this id if it runs.
    case cancel(UInt64)
    /// Ends the thread. No transfer runs.
    case end
  }

  private struct State {
    var commands: [Command] = []
    var lastID: UInt64 = 0
  }

  private let allowsHTTP2: Bool
  private let multi: UnsafeMutableRawPointer
  private let state = Mutex(State())
  /// The transfers that run, by their handles.
  private var active: [UnsafeMutableRawPointer: CurlTransfer] = [:]

  init(allowsHTTP2: Bool, connectionsPerHost: Int) {
    guard libraryIsInitialized, let multi = curl_multi_init() else {
      preconditionFailure("libcurl cannot be initialized")
    }
    self.allowsHTTP2 = allowsHTTP2
    self.multi = multi
    entitled_curl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost)
    // Otherwise libcurl closes all but four when they become idle, if one request runs at that time.
    entitled_curl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 2 * connectionsPerHost)
  }

  deinit { curl_multi_cleanup(multi) }

  /// Returns a new id for a transfer.
  func makeID() -> UInt64 {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }

  /// Adds a command for the thread.
  func add(_ command: Command) {
    state.withLock { $0.commands.append(command) }
    curl_multi_wakeup(multi)
  }

  /// Starts a transfer for the current task, unless the task is cancelled.
  func start(_ transfer: CurlTransfer) {
    let isCancelled = state.withLock { state in
      // In the lock, so that the command to cancel follows that to start.
      guard !Task.isCancelled else { return true }
      state.commands.append(.start(transfer))
      return false
    }
    guard !isCancelled else { return transfer.finish(.failure(.cancelled)) }
    curl_multi_wakeup(multi)
  }

  /// Runs the transfers until the command to end.
  func run() {
    ignoreBrokenPipes()
    while carryOutCommands() {
      var running: CInt = 0
      curl_multi_perform(multi, &running)
      finishTransfers()
      // Waits for sockets, libcurl's timers and `curl_multi_wakeup`.
      curl_multi_poll(multi, nil, 0, 60_000, nil)
    }
  }

  /// - Returns: `false` after the command to end.
  private func carryOutCommands() -> Bool {
    let commands = state.withLock { state in
      defer { state.commands.removeAll(keepingCapacity: true) }
      return state.commands
    }
    for command in commands {
      switch command {
      case .start(let transfer): begin(transfer)
      case .cancel(let id):
        guard let (easy, transfer) = active.first(where: { $0.value.id == id }) else { continue }
        remove(easy, of: transfer)
        transfer.finish(.failure(.cancelled))
      case .end: return false
      }
    }
    return true
  }

  /// Begins a transfer; one that cannot begin is finished with its error.
  private func begin(_ transfer: CurlTransfer) {
    guard let easy = curl_easy_init() else { return transfer.finish(.failure(.failed("out of memory"))) }
    do {
      try transfer.prepare(easy, allowsHTTP2: allowsHTTP2)
    } catch {
      curl_easy_cleanup(easy)
      return transfer.finish(.failure(error))
    }
    let result = curl_multi_add_handle(multi, easy)
    guard result == CURLM_OK else {
      curl_easy_cleanup(easy)
      return transfer.finish(.failure(.failed(String(cString: curl_multi_strerror(result)))))
    }
    active[easy] = transfer
  }

  /// Ends the transfers that libcurl has completed.
  private func finishTransfers() {
    var remaining: CInt = 0
    while let message = curl_multi_info_read(multi, &remaining) {
      guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
        let transfer = active[easy]
      else { continue }
      let result = transfer.result(easy, message.pointee.data.result)
      remove(easy, of: transfer)
      transfer.finish(result)
    }
  }

  /// Removes and frees the handle of a transfer, which has what the handle refers to.
  private func remove(_ easy: UnsafeMutableRawPointer, of transfer: CurlTransfer) {
    withExtendedLifetime(transfer) {
      active[easy] = nil
      curl_multi_remove_handle(multi, easy)
      curl_easy_cleanup(easy)
    }
  }
}

/// Initialized once for the process, before the first handle.
private let libraryIsInitialized = curl_global_init(entitled_curl_global_default) == CURLE_OK

/// Makes writes of this thread to a connection that the peer has closed return an error, without a signal.
private func ignoreBrokenPipes() {
  var signals = sigset_t()
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}
