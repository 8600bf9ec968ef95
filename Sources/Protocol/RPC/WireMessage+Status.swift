internal import Wire

extension WireMessage {
  /// The message that a caller sent; `INVALID_ARGUMENT` says what is wrong with one that is none.
  static func decoded(from bytes: UnsafeRawBufferPointer) throws(Status) -> Self {
    do throws(WireError) {
      return try decode(bytes)
    } catch {
      throw Status(error)
    }
  }

  /// The same from an array.
  static func decoded(from bytes: [UInt8]) throws(Status) -> Self {
    do throws(WireError) {
      return try decode(bytes)
    } catch {
      throw Status(error)
    }
  }
}
