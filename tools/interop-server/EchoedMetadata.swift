internal import RPC
internal import Wire

/// The metadata that a caller wants to see again.
enum EchoedMetadata {
  static let initial = "x-grpc-test-echo-initial"
  static let trailing = "x-grpc-test-echo-trailing-bin"
}

extension Metadata {
  /// The entries of that name alone.
  func echoed(_ name: String) -> Metadata {
    var echo = Metadata()
    for value in self[name] { echo.append(name, value) }
    return echo
  }
}

extension ResponseWriter {
  func attach(echoing metadata: Metadata) async {
    await attach(
      initial: metadata.echoed(EchoedMetadata.initial), trailing: metadata.echoed(EchoedMetadata.trailing))
  }
}

extension GRPCTesting.Payload {
  /// So many bytes of zeros.
  static func zeros(_ count: Int32) -> GRPCTesting.Payload {
    .with { $0.body = [UInt8](repeating: 0, count: Int(max(count, 0))) }
  }
}

extension GRPCTesting.EchoStatus? {
  /// Ends the call with the status that the caller wishes for, if it wishes for one.
  func end() throws(Status) {
    guard let self, self.code != 0 else { return }
    throw Status(StatusCode(rawValue: Int(self.code)) ?? .unknown, self.message)
  }
}

extension GRPCTesting.BoolValue? {
  /// Refuses a message that was not packed although its caller says so.
  func require(_ wasCompressed: Bool) throws(Status) {
    if self?.value == true, !wasCompressed {
      throw Status(.invalidArgument, "the message should be compressed and is not")
    }
  }
}

extension MessageCompression {
  /// As the caller wishes, if it does.
  init(_ wish: GRPCTesting.BoolValue?) {
    self = wish.map { $0.value ? .always : .never } ?? .likeRequest
  }
}
