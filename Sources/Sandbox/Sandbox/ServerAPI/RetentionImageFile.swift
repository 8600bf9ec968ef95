internal import AppStore

/// The header of an uploaded PNG, as far as Apple's rules need it (Retention Messaging API: Upload Image).
struct RetentionImageFile {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let fullWidth = 3840
  private static let fullHeights = 160...2160

  let width: Int
  let height: Int
  /// Whether pixels can be transparent: an alpha channel, or a list of transparent colors.
  let isTransparent: Bool

  /// Parses the chunks up to the image data; `nil` for anything but a PNG.
  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: Self.signature), bytes.count >= 33, Array(bytes[12..<16]) == Array("IHDR".utf8)
    else { return nil }
    width = Self.number(bytes[16..<20])
    height = Self.number(bytes[20..<24])
    // Color types 4 and 6 have an alpha channel (PNG specification, 11.2.1).
    isTransparent = [4, 6].contains(bytes[25]) || Self.hasTransparentColors(bytes)
  }

  /// Whether Apple accepts an image of this size. Apple names no size for bullet points in the pages that are known here.
  func isAccepted(as size: String) -> Bool {
    guard !isTransparent, width > 0, height > 0 else { return false }
    return size != "FULL_SIZE" || width == Self.fullWidth && Self.fullHeights.contains(height)
  }

  /// Whether there is a chunk `tRNS` before the image data.
  private static func hasTransparentColors(_ bytes: [UInt8]) -> Bool {
    var start = 8
    while start + 8 <= bytes.count {
      let type = Array(bytes[start + 4..<start + 8])
      if type == Array("tRNS".utf8) { return true }
      if type == Array("IDAT".utf8) { return false }
      start += 12 + number(bytes[start..<start + 4])
    }
    return false
  }

  /// A big-endian number.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
}
