internal import CNghttp2
package import HTTP

/// Header fields that many responses share. They live as long as the process, so nghttp2 neither copies them nor
/// converts their names to lower case.
// Unchecked, because nothing writes to the memory after the initializer.
package struct ConstantFields: @unchecked Sendable {
  /// The fields in the form of nghttp2.
  let list: UnsafePointer<nghttp2_nv>
  /// The number of fields.
  let count: Int
  /// As ``HTTP/HeaderFields/sizeInBytes``.
  let sizeInBytes: Int

  /// Copies `fields` into memory that is never freed; only for constants. The names must be lowercase.
  package init(_ fields: HeaderFields) {
    let list = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: max(fields.count, 1))
    var count = 0
    fields.withFields { borrowed in
      for field in borrowed {
        list.advanced(by: count).initialize(to: nghttp2_nv(constant: field.name, field.value))
        count += 1
      }
    }
    self.list = UnsafePointer(list)
    self.count = count
    sizeInBytes = fields.sizeInBytes
  }
}

/// The trailers of a stream.
enum Trailers {
  /// The stream has no trailers: its last data frame ends it.
  case none
  /// Fields that are made for this stream.
  case fields(HeaderFields)
  /// Fields that are encoded once for all streams.
  case constant(ConstantFields)
}

extension nghttp2_nv {
  fileprivate init(constant name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    self.init(
      name: Self.copy(name), value: Self.copy(value), namelen: name.count, valuelen: value.count,
      flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue))
  }

  private static func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeMutablePointer<UInt8> {
    let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyMemory(from: bytes)
    return copy
  }
}
