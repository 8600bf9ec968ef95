internal import CTLS

/// One TLS connection without its transport: the caller carries the records of both directions.
///
/// Belongs to one thread.
final class TLSEngine {
  /// The result of a read.
  enum Reading {
    case content(Int)
    /// The next record is incomplete.
    case needsRecords
    /// The peer has ended its direction with `close_notify`.
    case ended
  }

  /// More records must not wait for ``receive(_:)`` at once: OpenSSL keeps the largest buffer that it ever needed.
  static let pieceSize = 16 * 1_024
  /// A record has at most 16 KiB of content (RFC 8446, section 5.1). A peer that sends a multiple of it without any content
  /// floods with records that only cost.
  private static let maximumWithoutContent = 64 * 1_024
  /// Each makes OpenSSL derive a key, for 27 bytes of the peer. Libraries send one after gigabytes of content.
  private static let maximumKeyUpdates = 32
  /// The content that permits as many key updates again, in bytes. A byte is not enough, because it costs the peer nothing.
  private static let contentForKeyUpdates = 1 << 20

  let tls: OpaquePointer
  private let input: OpaquePointer
  private let output: OpaquePointer
  private var isHandshakeComplete = false
  /// The bytes of records since the last content.
  private var withoutContent = 0
  /// The key updates of the peer, and its content, since there was enough for more of them.
  private var keyUpdates = 0
  private var contentSinceReset = 0

  /// `host` is the name or address that the certificate of the server must contain; a server has none.
  init(_ context: TLSContext, host: TLSHost? = nil) throws(TLSFailure) {
    guard let tls = SSL_new(context.pointer) else { throw TLSErrorQueue.take() }
    guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
      SSL_free(tls)
      throw TLSErrorQueue.take()
    }
    self.tls = tls
    self.input = input
    self.output = output
    // The connection owns both from here on.
    SSL_set_bio(tls, input, output)
    context.isServer ? SSL_set_accept_state(tls) : SSL_set_connect_state(tls)
    countKeyUpdates()
    if let host { try require(host) }
  }

  deinit { SSL_free(tls) }

  /// OpenSSL reports each message of the handshake, and limits none.
  private func countKeyUpdates() {
    // The connection belongs to this engine.
    SSL_ctrl(tls, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, Unmanaged.passUnretained(self).toOpaque())
    SSL_set_msg_callback(tls) { isSent, _, type, message, count, _, engine in
      guard isSent == 0, type == SSL3_RT_HANDSHAKE, count > 0, let message, let engine,
        message.load(as: UInt8.self) == SSL3_MT_KEY_UPDATE
      else { return }
      Unmanaged<TLSEngine>.fromOpaque(engine).takeUnretainedValue().keyUpdates += 1
    }
  }

  private func require(_ host: TLSHost) throws(TLSFailure) {
    switch host {
    case .address(let address):
      // The extension for the name takes no addresses (RFC 6066, section 3).
      try TLSContext.check(X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(tls), address))
    case .name(let name):
      try TLSContext.check(entitled_tls_set_server_name(tls, name))
      SSL_set_hostflags(tls, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
      try TLSContext.check(SSL_set1_host(tls, name))
    }
  }

  /// Takes records, or a part of one, of at most ``pieceSize`` bytes. All input must be read before the next call.
  func receive(_ records: UnsafeRawBufferPointer) throws(TLSFailure) {
    withoutContent += records.count
    guard !isHandshakeComplete || withoutContent <= Self.maximumWithoutContent else { throw .withoutContent }
    guard !records.isEmpty else { return }
    let count = BIO_write(input, records.baseAddress, CInt(clamping: records.count))
    guard count == records.count else { throw TLSErrorQueue.take() }
  }

  /// The number of received bytes that wait for ``read(into:)``, which has less content.
  var inputCount: Int { BIO_ctrl_pending(input) }

  /// Continues the handshake; returns whether it is complete.
  func handshake() throws(TLSFailure) -> Bool {
    ERR_clear_error()
    let result = SSL_do_handshake(tls)
    guard result != 1 else {
      isHandshakeComplete = true
      withoutContent = 0
      return true
    }
    guard SSL_get_error(tls, result) == SSL_ERROR_WANT_READ else { throw failure() }
    return false
  }

  /// Decrypts content of received records into `buffer`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(TLSFailure) -> Reading {
    ERR_clear_error()
    let count = SSL_read(tls, buffer.baseAddress, CInt(clamping: buffer.count))
    guard keyUpdates <= Self.maximumKeyUpdates else { throw .tooManyKeyUpdates }
    guard count <= 0 else {
      recordContent(Int(count))
      return .content(Int(count))
    }
    switch SSL_get_error(tls, count) {
    case SSL_ERROR_WANT_READ: return .needsRecords
    case SSL_ERROR_ZERO_RETURN: return .ended
    default: throw failure()
    }
  }

  private func recordContent(_ count: Int) {
    withoutContent = 0
    contentSinceReset += count
    guard contentSinceReset >= Self.contentForKeyUpdates else { return }
    contentSinceReset = 0
    keyUpdates = 0
  }

  /// Encrypts a part of `content` as output; returns its size. Output must be taken before the next call.
  func write(_ content: UnsafeRawBufferPointer) throws(TLSFailure) -> Int {
    ERR_clear_error()
    let count = SSL_write(tls, content.baseAddress, CInt(min(content.count, Self.pieceSize)))
    guard count > 0 else { throw failure() }
    return Int(count)
  }

  /// Ends this side's direction with `close_notify`.
  func end() {
    ERR_clear_error()
    SSL_shutdown(tls)
    ERR_clear_error()
  }

  /// The number of bytes that ``takeOutput(into:)`` has for the peer.
  var outputCount: Int { BIO_ctrl_pending(output) }

  /// Takes records for the peer; returns their size.
  func takeOutput(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    max(0, Int(BIO_read(output, buffer.baseAddress, CInt(clamping: buffer.count))))
  }

  private func failure() -> TLSFailure {
    let isJudged = SSL_get_verify_mode(tls) != SSL_VERIFY_NONE
    let verification = isJudged ? CInt(SSL_get_verify_result(tls)) : X509_V_OK
    defer { ERR_clear_error() }
    switch verification {
    case X509_V_OK: return TLSErrorQueue.take()
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH: return .otherName
    default:
      return .untrusted(reason: String(cString: X509_verify_cert_error_string(CLong(verification))))
    }
  }
}
