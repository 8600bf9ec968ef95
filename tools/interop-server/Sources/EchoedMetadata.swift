internal import RPC
internal import Wire

/// The metadata that the server echoes to the caller.
enum EchoedMetadata {
  static let initial = "x-grpc-test-echo-initial"
  static let trailing = "x-grpc-test-echo-trailing-bin"
}

extension Metadata {
  /// The entries of one name.
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
  /// A payload of `size` zero bytes.
  static func zeros(_ count: Int32) -> GRPCTesting.Payload {
    .with { $0.body = [UInt8](repeating: 0, count: Int(max(count, 0))) }
  }
}

extension GRPCTesting.EchoStatus? {
  /// Ends the call with the requested status, if the request names one.
  func end() throws(Status) {
    guard let self, self.code != 0 else { return }
    throw Status(StatusCode(rawValue: Int(self.code)) ?? .unknown, self.message)
  }
}

extension GRPCTesting.BoolValue? {
  /// Rejects an uncompressed message if the request expects a compressed one.
  func require(_ wasCompressed: Bool) throws(Status) {
    if self?.value == true, !wasCompressed {
      throw Status(.invalidArgument, "the message should be compressed and is not")
    }
  }
}

extension MessageCompression {
  /// The requested compression, if the request names one.
  init(_ wish: GRPCTesting.BoolValue?) {
    self = wish.map { $0.value ? .always : .never } ?? .likeRequest
  }
}
