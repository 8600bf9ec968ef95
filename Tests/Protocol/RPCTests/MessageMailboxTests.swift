import RPC
import Testing

@Suite struct MessageMailboxTests {
  @Test("Messages keep their order across any fragmentation")
  func order() async throws {
    let mailbox = MessageMailbox(backlogBytes: 1_000_000)
    let messages = (0..<100).map { [UInt8](repeating: UInt8($0), count: $0) }
    var wire: [UInt8] = []
    for message in messages { MessageFrame.append(message, to: &wire, encoding: .identity) }
    var waiting: [UInt8] = []
    for piece in wire.chunked(by: 7) {
      waiting += piece
      let (used, isComplete) = try fill(mailbox, waiting)
      waiting.removeFirst(used)
      #expect(isComplete)
    }
    mailbox.finish()
    for message in messages { #expect(try await mailbox.next {}?.bytes == message) }
    #expect(try await mailbox.next {} == nil)
  }

  @Test("Empty messages fill a mailbox, which requests a refill once when half are removed")
  func room() async throws {
    let mailbox = MessageMailbox(backlogBytes: 640)
    let wire = [UInt8](repeating: 0, count: 5 * 1_000)
    let (used, isComplete) = try fill(mailbox, wire)
    #expect(!isComplete)
    #expect(used == 10 * 5)
    var refills = 0
    for _ in 0..<10 { _ = try await mailbox.next { refills += 1 } }
    #expect(refills == 1)
    #expect(try fill(mailbox, Array(wire.dropFirst(used))).used == 10 * 5)
  }

  @Test("Messages count as they arrived, and are decompressed when they are read")
  func compressed() async throws {
    let mailbox = MessageMailbox(backlogBytes: 10_000)
    let message = [UInt8](repeating: 7, count: 100_000)
    var wire: [UInt8] = []
    for _ in 0..<10 { MessageFrame.append(message, to: &wire, encoding: .gzip) }
    wire += [1, 0, 0, 0, 1, 7]
    let (used, isComplete) = try wire.withUnsafeBytes {
      try mailbox.fill(from: $0, encoding: .gzip, limit: 100_000)
    }
    #expect(isComplete && used == wire.count)
    for _ in 0..<10 {
      #expect(try await mailbox.next {} == ReceivedMessage(message, wasCompressed: true))
    }
    await #expect(throws: Status(FramingError.badCompression)) { _ = try await mailbox.next {} }
  }

  @Test("Delivered messages are read before a failure")
  func failure() async throws {
    let mailbox = MessageMailbox(backlogBytes: 640)
    _ = try fill(mailbox, [0, 0, 0, 0, 1, 7])
    mailbox.fail(Status(.cancelled))
    #expect(try await mailbox.next {}?.bytes == [7])
    await #expect(throws: Status(.cancelled)) { _ = try await mailbox.next {} }
  }

  private func fill(_ mailbox: MessageMailbox, _ bytes: [UInt8]) throws -> (used: Int, isComplete: Bool) {
    try bytes.withUnsafeBytes { try mailbox.fill(from: $0, encoding: .identity, limit: 1_000) }
  }
}

extension [UInt8] {
  fileprivate func chunked(by size: Int) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
  }
}
