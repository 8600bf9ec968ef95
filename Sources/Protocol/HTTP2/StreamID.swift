/// The number of a stream on its connection (RFC 9113, section 5.1.1).
package struct StreamID: RawRepresentable, Hashable, Sendable {
  package let rawValue: Int32
  package init(rawValue: Int32) { self.rawValue = rawValue }
}

/// The codes with which a stream or a connection ends (RFC 9113, section 7).
package struct ErrorCode: RawRepresentable, Hashable, Sendable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static let noError = ErrorCode(rawValue: 0x0)
  package static let protocolError = ErrorCode(rawValue: 0x1)
  package static let internalError = ErrorCode(rawValue: 0x2)
  package static let refusedStream = ErrorCode(rawValue: 0x7)
  package static let cancel = ErrorCode(rawValue: 0x8)
  package static let enhanceYourCalm = ErrorCode(rawValue: 0xb)
}
