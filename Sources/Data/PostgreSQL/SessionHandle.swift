internal import CPostgreSQL
internal import Foundation

/// One session of the server: the owner of libpq's connection.
///
/// Non-blocking, so that each wait has a limit. Not thread-safe.
final class SessionHandle {
  /// Valid until `deinit`, and used only by the extensions of this type.
  let handle: OpaquePointer
  private let notices = NoticeLog()
  /// The encoded parameters of the request that is being sent.
  var scratch: [UInt8] = []
  var prepared = PreparedStatements()

  /// Opens a session; blocks at most as long as `connect_timeout` states for each address.
  init(_ settings: PostgresSettings) throws(PostgresError) {
    let options = try settings.connectionOptions().sorted { $0.key < $1.key }
    guard let handle = Self.connect(options) else { throw PostgresError(.unavailable, "out of memory") }
    guard PQstatus(handle) == CONNECTION_OK, PQsetnonblocking(handle, 1) == 0 else {
      defer { PQfinish(handle) }
      throw PostgresError(.unavailable, Self.lastMessage(handle))
    }
    self.handle = handle
    PQsetNoticeReceiver(handle, receiveNotice, Unmanaged.passUnretained(notices).toOpaque())
  }

  deinit { PQfinish(handle) }

  private static func connect(_ options: [(key: String, value: String)]) -> OpaquePointer? {
    let keywords = options.map { strdup($0.key) }
    let values = options.map { strdup($0.value) }
    defer { for text in keywords + values { free(text) } }
    let endedKeywords = keywords.map { UnsafePointer($0) } + [nil]
    let endedValues = values.map { UnsafePointer($0) } + [nil]
    // A `dbname` is no connection string, so it may contain "=".
    return PQconnectdbParams(endedKeywords, endedValues, 0)
  }

  private static func lastMessage(_ handle: OpaquePointer) -> String {
    String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// libpq's description of its last error.
  var lastMessage: String { Self.lastMessage(handle) }

  /// Whether the server or the network ended the session.
  var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

  var isInTransaction: Bool {
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR
  }

  /// Whether requests are sent without waiting for each.
  var isInPipeline: Bool { PQpipelineStatus(handle) != PQ_PIPELINE_OFF }

  /// The file descriptor of the socket.
  var socket: CInt { PQsocket(handle) }

  /// Whether a commit was acknowledged although its wait for the synchronous standby was cancelled; read once.
  func takeUnreplicatedCommit() -> Bool {
    defer { notices.hasUnreplicatedCommit = false }
    return notices.hasUnreplicatedCommit
  }

  /// Creates a handle by which any thread can cancel the running statement.
  func makeCanceller() -> Canceller? { PQgetCancel(handle).map(Canceller.init) }
}
