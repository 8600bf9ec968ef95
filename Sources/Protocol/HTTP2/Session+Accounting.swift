// What a session holds for its peer, and what the peer did: for owners who set bounds to it.
extension Session {
  /// Streams that are open.
  package var openStreams: Int { state.pointee.openStreams }

  /// Bytes received on all open streams and not yet taken.
  package var inboundBytes: Int { state.pointee.inboundBytes }

  /// Bytes given to send on all open streams and not yet sent.
  package var unsentBytes: Int { state.pointee.unsentBytes }

  /// Bytes of bodies that were sent since the session began.
  package var bodyBytesSent: Int64 { state.pointee.bodyBytesSent }

  /// The stream whose header fields have begun to come and have not ended.
  package var openHeaderBlock: StreamID? { state.pointee.openHeaderBlock.map(StreamID.init(rawValue:)) }

  /// Frames received, since they were last forgotten, that carry no part of a request: pings, settings,
  /// resets, window updates, priorities, empty data.
  package var controlFrames: Int { state.pointee.controlFrames }

  /// Begins to count from nothing.
  package func forgetControlFrames() { state.pointee.controlFrames = 0 }
}
