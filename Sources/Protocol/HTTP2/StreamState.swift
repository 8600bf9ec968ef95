internal import HTTP

/// The state of one stream while nghttp2 has it open.
///
/// The user-data pointer of the stream refers to it: a struct behind a pointer costs a callback 2 ns, a class 20 ns of
/// reference counting (measured). Every state is owned by the ``StreamPool`` of its session.
struct StreamState {
  var head = HeaderFields()
  var trailers = HeaderFields()
  var headIsComplete = false
  var headersTooLarge = false
  /// The cost of the stream besides its body, while the peer has not ended its side; otherwise 0.
  var headCost = 0
  /// The cost of the stream until it closes; see ``Session/hold(_:for:)``.
  var heldCost = 0

  /// The received bytes that the owner has not removed yet.
  var inbound: [UInt8] = []
  /// The number of received bytes that were freed before the stream closed.
  var discarded = 0
  var inboundHasEnded = false

  /// The number of received bytes that were not removed, freed or not.
  var received: Int { inbound.count + discarded }

  /// The bytes to send. The first `sent` bytes are sent already.
  var outbound: [UInt8] = []
  var sent = 0
  var outboundHasEnded = false
  var outboundTrailers = Trailers.none
  /// Whether nghttp2 waits for more bytes and must be resumed.
  var isDeferred = false

  /// The neighbours in the list of open streams, or the next free state.
  var next: UnsafeMutablePointer<StreamState>?
  var previous: UnsafeMutablePointer<StreamState>?

  var unsent: Int { outbound.count - sent }

  /// Frees the received bytes if they take much memory.
  mutating func discardInbound() {
    guard inbound.capacity > Self.maxRetainedCapacity else { return }
    discarded += inbound.count
    inbound = []
  }

  /// Frees the fields that opened the stream if they take much memory.
  mutating func discardLargeHead() {
    if head.sizeInBytes > Self.maxAnsweredHead { head = HeaderFields() }
  }

  /// Removes what is sent once it is much, and as much as the rest, so that each byte moves about once. A peer that always
  /// leaves a byte unread would have the service keep all that it ever sent on the stream.
  mutating func discardSent() {
    guard sent >= Self.maxRetainedSent, sent >= unsent else { return }
    outbound.removeFirst(sent)
    sent = 0
  }

  /// Frees the fields and all bytes of a stream that is neither read nor answered any more.
  mutating func discard() {
    head = HeaderFields()
    trailers = HeaderFields()
    discarded += inbound.count
    inbound = []
    outbound = []
    sent = 0
  }

  /// Prepares the state for another stream; buffers of at most `capacity` bytes keep their memory.
  mutating func reset(retaining capacity: Int) {
    head.removeAll(keeping: capacity)
    trailers.removeAll(keeping: capacity)
    outboundTrailers = .none
    headIsComplete = false
    headersTooLarge = false
    headCost = 0
    heldCost = 0
    inbound.removeAll(keepingCapacity: inbound.capacity <= capacity)
    outbound.removeAll(keepingCapacity: outbound.capacity <= capacity)
    discarded = 0
    inboundHasEnded = false
    sent = 0
    outboundHasEnded = false
    isDeferred = false
  }

  fileprivate static let maxRetainedCapacity = 8 * 1_024
  /// In bytes.
  private static let maxAnsweredHead = 1_024
  /// In bytes.
  private static let maxRetainedSent = 32 * 1_024
}

/// Owns the stream states of one session: those in use and some for reuse.
struct StreamPool {
  private var open: UnsafeMutablePointer<StreamState>?
  private var free: UnsafeMutablePointer<StreamState>?
  private var freeCount = 0
  private static let maxFree = 128
  /// The number of free states that keep larger buffers, so that an idle connection does not hold megabytes.
  private static let maxLarge = 16
  /// In bytes, of each buffer of the others.
  private static let smallCapacity = 2 * 1_024

  /// Returns an empty state, which the caller releases.
  mutating func take() -> UnsafeMutablePointer<StreamState> {
    let state: UnsafeMutablePointer<StreamState>
    if let reused = free {
      free = reused.pointee.next
      freeCount -= 1
      state = reused
    } else {
      state = .allocate(capacity: 1)
      state.initialize(to: StreamState())
    }
    state.pointee.previous = nil
    state.pointee.next = open
    open?.pointee.previous = state
    open = state
    return state
  }

  /// Ends the use of a state: it is emptied for reuse, or freed if enough are free.
  mutating func release(_ state: UnsafeMutablePointer<StreamState>) {
    if let previous = state.pointee.previous {
      previous.pointee.next = state.pointee.next
    } else {
      open = state.pointee.next
    }
    state.pointee.next?.pointee.previous = state.pointee.previous
    guard freeCount < Self.maxFree else { return Self.destroy(state) }
    state.pointee.reset(
      retaining: freeCount < Self.maxLarge ? StreamState.maxRetainedCapacity : Self.smallCapacity)
    state.pointee.next = free
    free = state
    freeCount += 1
  }

  func forEachOpen(_ body: (UnsafeMutablePointer<StreamState>) -> Void) {
    var state = open
    while let current = state {
      state = current.pointee.next
      body(current)
    }
  }

  /// Frees every state. The session they belong to must be gone.
  mutating func destroyAll() {
    for first in [open, free] {
      var state = first
      while let current = state {
        state = current.pointee.next
        Self.destroy(current)
      }
    }
    open = nil
    free = nil
  }

  private static func destroy(_ state: UnsafeMutablePointer<StreamState>) {
    state.deinitialize(count: 1)
    state.deallocate()
  }
}
