internal import CNghttp2

extension Session {
  /// Opens the server's side of a connection; its SETTINGS are the first output.
  ///
  /// - Throws: ``HTTP2Error`` without memory.
  package static func server(limits: Limits = Limits()) throws(HTTP2Error) -> Session {
    let session = try open(isServer: true, limits: limits)
    // nghttp2 would end the connection at a stream over the limit. It gets a limit that no client reaches, and the
    // session refuses the streams over the one that it announces.
    try session.submitSettings(limits, extra: [(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(Int32.max))])
    session.announcedStreams = limits.concurrentStreams
    return session
  }

  /// Opens the client's side of a connection; the preface and SETTINGS are the first output.
  ///
  /// - Throws: ``HTTP2Error`` without memory.
  package static func client(limits: Limits = Limits()) throws(HTTP2Error) -> Session {
    let session = try open(isServer: false, limits: limits)
    try session.submitSettings(limits, extra: [(NGHTTP2_SETTINGS_ENABLE_PUSH, 0)])
    return session
  }

  /// Creates a session of nghttp2 with the state that its callbacks write.
  ///
  /// - Throws: ``HTTP2Error`` without memory.
  private static func open(isServer: Bool, limits: Limits) throws(HTTP2Error) -> Session {
    var callbacks: OpaquePointer?
    try check(nghttp2_session_callbacks_new(&callbacks))
    defer { nghttp2_session_callbacks_del(callbacks) }
    installReceiveCallbacks(callbacks)
    var options: OpaquePointer?
    try check(nghttp2_option_new(&options))
    defer { nghttp2_option_del(options) }
    configure(options, isServer: isServer)

    let state = UnsafeMutablePointer<SessionState>.allocate(capacity: 1)
    state.initialize(to: SessionState(limits: limits, isServer: isServer))
    var session: OpaquePointer?
    let result =
      isServer
      ? nghttp2_session_server_new2(&session, callbacks, state, options)
      : nghttp2_session_client_new2(&session, callbacks, state, options)
    guard result == 0, let session else {
      state.deinitialize(count: 1)
      state.deallocate()
      throw HTTP2Error(code: result)
    }
    return Session(session: session, state: state)
  }

  /// Sets what nghttp2 shall not do by itself, and how many streams a client may reset.
  private static func configure(_ options: OpaquePointer?, isServer: Bool) {
    // The owner opens windows, so that a slow reader slows its sender down.
    nghttp2_option_set_no_auto_window_update(options, 1)
    // nghttp2 would retain closed streams: `ClosedStreams` needs less memory.
    nghttp2_option_set_no_closed_streams(options, 1)
    // The default of nghttp2 (a burst of 1,000, then 33 per second) disconnects a client that cancels 200 calls per
    // second after six seconds. This limit still stops the rapid reset attack (CVE-2023-44487), early enough that new
    // connections cost the attacker more than their resets cost the server.
    if isServer { nghttp2_option_set_stream_reset_rate_limit(options, 2_000, 1_000) }
  }

  /// Queues the first SETTINGS frame, and the window of the connection.
  private func submitSettings(
    _ limits: Limits, extra: [(nghttp2_settings_id, UInt32)]
  ) throws(HTTP2Error) {
    let settings =
      extra + [
        (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.streamWindow),
        (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(clamping: limits.headerBytes)),
      ]
    let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
    try check(
      nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count))
    try check(
      nghttp2_session_set_local_window_size(
        session, UInt8(NGHTTP2_FLAG_NONE.rawValue), 0, Int32(clamping: limits.connectionWindow)))
  }
}
