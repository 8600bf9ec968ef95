internal import HTTP

/// What a session remembers of one stream while nghttp2 has it open.
///
/// It lives behind a pointer that nghttp2 carries as the stream's user data: measured, a struct
/// behind a pointer costs a callback 2 ns and a class 20 ns of reference counting. Only this module
/// sees the pointer, and every state is owned by its session's ``StreamPool``.
struct StreamState {
  var head = HeaderFields()
  var trailers = HeaderFields()
  var headIsComplete = false
  var headersTooLarge = false

  /// Bytes received and not yet taken by the owner.
  var inbound: [UInt8] = []
  var inboundHasEnded = false

  /// Bytes to send, of which `sent` went already.
  var outbound: [UInt8] = []
  var sent = 0
  var outboundHasEnded = false
  /// Fields to send behind the last byte; empty for none.
  var outboundTrailers = HeaderFields()
  /// nghttp2 was told to wait for more bytes and must be woken.
  var isDeferred = false

  /// Neighbours in the list of open streams, or the next free one.
  var next: UnsafeMutablePointer<StreamState>?
  var previous: UnsafeMutablePointer<StreamState>?

  var unsent: Int { outbound.count - sent }

  /// Ready for another stream; buffers of ordinary size keep their memory.
  mutating func reset() {
    head.removeAll()
    trailers.removeAll()
    outboundTrailers.removeAll()
    headIsComplete = false
    headersTooLarge = false
    inbound.removeAll(keepingCapacity: inbound.capacity <= Self.keptCapacity)
    outbound.removeAll(keepingCapacity: outbound.capacity <= Self.keptCapacity)
    inboundHasEnded = false
    sent = 0
    outboundHasEnded = false
    isDeferred = false
  }

  private static let keptCapacity = 8 * 1_024
}

/// Owns the stream states of one session: those in use and some to use again.
struct StreamPool {
  private var open: UnsafeMutablePointer<StreamState>?
  private var free: UnsafeMutablePointer<StreamState>?
  private var freeCount = 0
  private static let keptFree = 128

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

  mutating func giveBack(_ state: UnsafeMutablePointer<StreamState>) {
    if let previous = state.pointee.previous {
      previous.pointee.next = state.pointee.next
    } else {
      open = state.pointee.next
    }
    state.pointee.next?.pointee.previous = state.pointee.previous
    guard freeCount < Self.keptFree else { return Self.destroy(state) }
    state.pointee.reset()
    state.pointee.next = free
    free = state
    freeCount += 1
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
