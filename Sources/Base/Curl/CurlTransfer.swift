internal import CCurl
internal import Glibc
internal import Platform

/// One request of a ``CurlClient`` and its response.
// Unchecked: the caller's task creates it, and all other calls are made by the thread of the client.
final class CurlTransfer: @unchecked Sendable {
  /// Unique within the client.
  let id: UInt64

  private let request: CurlRequest
  private let continuation: CheckedContinuation<Result<CurlResponse, CurlError>, Never>
  private var fields: UnsafeMutablePointer<curl_slist>?
  /// The text of libcurl's error.
  private let problem = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var headers: [(name: String, value: String)] = []
  private var hasAllHeaders = false
  private var body: [UInt8] = []
  private var isTooLarge = false

  init(
    id: UInt64, _ request: CurlRequest,
    _ continuation: CheckedContinuation<Result<CurlResponse, CurlError>, Never>
  ) {
    self.id = id
    self.request = request
    self.continuation = continuation
    problem.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_slist_free_all(fields)
    problem.deallocate()
  }

  /// Sets the options of a new handle of libcurl, which must not outlive this object.
  ///
  /// - Throws: ``CurlError/failed(_:)`` for an option that libcurl does not accept, and for a header field with a
  ///   control character.
  func prepare(_ easy: UnsafeMutableRawPointer, allowsHTTP2: Bool) throws(CurlError) {
    try set(easy, CURLOPT_URL, to: request.url)
    try set(easy, CURLOPT_PROTOCOLS_STR, to: "http,https")
    // Variables of the environment would name one.
    try set(easy, CURLOPT_PROXY, to: "")
    // Without TLS there is only HTTP/1.1. libcurl would learn that from the first response of a server, and other requests
    // would wait for it.
    let isHTTP2 = allowsHTTP2 && request.url.lowercased().hasPrefix("https:")
    let version = isHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
    try set(easy, CURLOPT_HTTP_VERSION, to: Int(version))
    // libcurl must not use signals, because several threads run.
    try set(easy, CURLOPT_NOSIGNAL, to: 1)
    // A connection that is being opened for another request may turn out to serve this one, too.
    try set(easy, CURLOPT_PIPEWAIT, to: 1)
    try set(easy, CURLOPT_CONNECTTIMEOUT_MS, to: 10_000)
    // Zero would be no limit.
    try set(easy, CURLOPT_TIMEOUT_MS, to: max(1, request.timeout.milliseconds))
    // Servers close idle connections, often after a minute.
    try set(easy, CURLOPT_MAXAGE_CONN, to: 60)
    try setBody(easy)
    try setHeaders(easy)
    try check(entitled_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, problem))
    let transfer = Unmanaged.passUnretained(self).toOpaque()
    try check(entitled_curl_set_pointer(easy, CURLOPT_HEADERDATA, transfer))
    try check(entitled_curl_set_receiver(easy, CURLOPT_HEADERFUNCTION, receiveHeader))
    try check(entitled_curl_set_pointer(easy, CURLOPT_WRITEDATA, transfer))
    try check(entitled_curl_set_receiver(easy, CURLOPT_WRITEFUNCTION, receiveBody))
  }

  /// The response, or the error of libcurl's `code`.
  func result(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) -> Result<CurlResponse, CurlError> {
    guard code == CURLE_OK else { return .failure(error(easy, code)) }
    let status = entitled_curl_number(easy, CURLINFO_RESPONSE_CODE)
    return .success(CurlResponse(status: status, headers: headers, body: body))
  }

  /// Ends the request; called once.
  func finish(_ result: Result<CurlResponse, CurlError>) { continuation.resume(returning: result) }

  /// Takes a line of the header section, or of the fields after the body.
  fileprivate func receive(header line: UnsafeRawBufferPointer) {
    var line = Substring(decoding: line, as: UTF8.self)
    while line.last?.isWhitespace == true { line.removeLast() }
    // The status line of this response, perhaps after an interim one (RFC 9110, section 15.2).
    if line.hasPrefix("HTTP/") {
      headers.removeAll()
      hasAllHeaders = false
    } else if line.isEmpty {
      hasAllHeaders = true
    } else if !hasAllHeaders, let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop(while: \.isWhitespace)
      headers.append((line[..<colon].lowercased(), String(value)))
    }
  }

  /// Takes a part of the body.
  ///
  /// - Returns: whether it is within the limit; otherwise the transfer ends.
  fileprivate func receive(body part: UnsafeRawBufferPointer) -> Bool {
    isTooLarge = part.count > request.responseLimit - body.count
    if !isTooLarge { body.append(contentsOf: part) }
    return !isTooLarge
  }

  /// Sets the method and the body. A method with a body in HTTP has one also if it is empty, with the length 0.
  private func setBody(_ easy: UnsafeMutableRawPointer) throws(CurlError) {
    if !request.body.isEmpty || ["POST", "PUT", "PATCH"].contains(request.method) {
      try set(easy, CURLOPT_POSTFIELDSIZE, to: request.body.count)
      // Without bytes, libcurl would read them from the standard input.
      let bytes = request.body.isEmpty ? [0] : request.body
      try check(entitled_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, bytes))
    }
    // A response to HEAD has no body, even if its fields have the length of one.
    if request.method == "HEAD" { try set(easy, CURLOPT_NOBODY, to: 1) }
    try set(easy, CURLOPT_CUSTOMREQUEST, to: request.method)
  }

  /// Sets the header fields, and removes those that libcurl would add by itself.
  private func setHeaders(_ easy: UnsafeMutableRawPointer) throws(CurlError) {
    for (name, value) in request.headers {
      guard !(name + value).utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else {
        throw .failed("the header field '\(name)' has a control character")
      }
      // libcurl's form of a field without a value ends in a semicolon.
      try addLine(value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    // Lines in this form remove fields that libcurl would add.
    let names = request.headers.map { $0.name.lowercased() }
    for name in ["accept", "content-type", "expect"] where !names.contains(name) { try addLine("\(name):") }
    try check(entitled_curl_set_pointer(easy, CURLOPT_HTTPHEADER, fields))
  }

  private func addLine(_ line: String) throws(CurlError) {
    guard let longer = curl_slist_append(fields, line) else { throw .failed("out of memory") }
    fields = longer
  }

  private func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, to value: Int) throws(CurlError) {
    try check(entitled_curl_set_number(easy, option, value))
  }

  private func set(_ easy: UnsafeMutableRawPointer, _ option: CURLoption, to value: String) throws(CurlError)
  {
    try check(entitled_curl_set_text(easy, option, value))
  }

  /// Throws the text of libcurl unless the code is `CURLE_OK`.
  private func check(_ code: CURLcode) throws(CurlError) {
    guard code == CURLE_OK else { throw .failed(String(cString: curl_easy_strerror(code))) }
  }

  /// The error of a transfer: sorted by what a caller can do, with the text of libcurl.
  private func error(_ easy: UnsafeMutableRawPointer, _ code: CURLcode) -> CurlError {
    let text = problem.pointee == 0 ? String(cString: curl_easy_strerror(code)) : String(cString: problem)
    switch code {
    case CURLE_OPERATION_TIMEDOUT: return .timedOut
    case CURLE_WRITE_ERROR where isTooLarge: return .tooLarge
    case CURLE_COULDNT_CONNECT:
      let number = CInt(truncatingIfNeeded: entitled_curl_number(easy, CURLINFO_OS_ERRNO))
      return .unreachable(number == 0 ? text : SystemError.text(number))
    case CURLE_COULDNT_RESOLVE_HOST: return .unreachable(text)
    case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE: return .tls(text)
    case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2,
      CURLE_HTTP2_STREAM:
      return .closed(text)
    default: return .failed(text)
    }
  }
}

extension Duration {
  /// At most a million seconds, because libcurl's number has 32 bits.
  fileprivate var milliseconds: Int {
    Int(min(components.seconds, 1_000_000) * 1000 + components.attoseconds / 1_000_000_000_000_000)
  }
}

/// Receives a line of the header section.
private func receiveHeader(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ transfer: UnsafeMutableRawPointer?
) -> Int {
  guard let transfer else { return 0 }
  Unmanaged<CurlTransfer>.fromOpaque(transfer).takeUnretainedValue()
    .receive(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}

/// Receives a part of the body; a number other than its size ends the transfer.
private func receiveBody(
  _ bytes: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ transfer: UnsafeMutableRawPointer?
) -> Int {
  guard let transfer else { return 0 }
  let isWithinLimit = Unmanaged<CurlTransfer>.fromOpaque(transfer).takeUnretainedValue()
    .receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count))
  return isWithinLimit ? size * count : 0
}
