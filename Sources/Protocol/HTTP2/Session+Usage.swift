// Resource use of the peer, for owners that limit it.
extension Session {
  /// The number of open streams.
  package var openStreams: Int { state.pointee.openStreams }

  /// The last stream that the client has opened, which may be closed.
  package var newestStream: StreamID? {
    let highest = state.pointee.closedStreams.highest
    return highest > 0 ? StreamID(rawValue: highest) : nil
  }

  /// The received bytes of all open streams that were not removed yet.
  package var inboundBytes: Int { state.pointee.inboundBytes }

  /// Those of ``inboundBytes`` on streams that the peer has not ended, and what these streams cost besides: one byte can
  /// refer to a field of 4 KiB. See also ``hold(_:for:)``.
  package var incompleteBytes: Int {
    state.pointee.inboundBytes - state.pointee.completeBytes + state.pointee.headCosts
      + state.pointee.heldCosts
  }

  /// The cost of the streams that the peer has not ended, besides their bodies: their header fields, and 1 KiB for each.
  package var headCosts: Int { state.pointee.headCosts }

  /// The unsent bytes of all open streams.
  package var unsentBytes: Int { state.pointee.unsentBytes }

  /// The bytes of bodies sent since the start of the session.
  package var bodyBytesSent: Int64 { state.pointee.bodyBytesSent }

  /// The stream with an incomplete header block.
  package var openHeaderBlock: StreamID? { state.pointee.openHeaderBlock.map(StreamID.init(rawValue:)) }

  /// The frames received since the last reset of the count that carry no part of a request: pings, settings,
  /// resets, window updates, headers that open no stream, empty or padded data, unknown ones. A priority counts as ten,
  /// like empty or padded data, like a stream that ends because of an invalid frame, and header fields that were dropped as
  /// one for each 64 bytes. Those pings and window updates are left out that the requests and the sent messages explain.
  /// See also ``countInflation(from:to:)``.
  package var controlFrames: Int { state.pointee.controlFrames.count }

  /// Whether a header block exceeded ``Limits/headerBytes`` so far that only an attack explains it. A server then reads
  /// no further.
  package var hasExcessiveHeaders: Bool { state.pointee.hasExcessiveHeaders }

  /// Adds the cost of a message that was much smaller before it was decompressed to ``controlFrames``.
  package func countInflation(from size: Int, to inflated: Int) {
    state.pointee.controlFrames.count += max(0, inflated - 64 * size) / 4_096
  }

  /// Adds the cost of a message that cannot be decompressed, or not within its limit, to ``controlFrames``.
  package func countBomb() { state.pointee.controlFrames.count += Self.costOfBomb }

  /// A connection that sends a hundred of them in a second is closed: no client does.
  private static let costOfBomb = 100

  /// The work that the peer has caused since ``resetWork()``, in bytes of large bodies and header fields: those after the
  /// first ones of each request, and what the owner adds.
  package var work: Int { state.pointee.work }

  /// Adds work that the owner does for the peer.
  package func addWork(_ bytes: Int) { state.pointee.work += bytes }

  /// Sets ``work`` to zero.
  package func resetWork() { state.pointee.work = 0 }

  /// Frees what all streams have received and have yet to send. Nothing may be read or sent afterwards.
  package func discardStreams() { state.pointee.discardStreams() }

  /// Sets ``controlFrames`` to zero.
  package func resetControlFrameCount() { state.pointee.controlFrames.count = 0 }
}
