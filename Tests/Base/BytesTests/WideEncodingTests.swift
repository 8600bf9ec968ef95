import Bytes
import Testing

@Suite struct WideEncodingTests {
  @Test("UTF-16 is detected with and without a byte order mark")
  func detection() {
    let cases: [([UInt8], WideEncoding?)] = [
      ([0xFF, 0xFE, 0x61, 0x00], .utf16), ([0xFE, 0xFF, 0x00, 0x61], .utf16),
      ([0x61, 0x00, 0x2C, 0x00], .utf16LittleEndian), ([0x00, 0x61, 0x00, 0x2C], .utf16BigEndian),
      ([0xEF, 0xBB, 0xBF, 0x61], nil), ([0x61, 0x2C], nil), ([0x61], nil), ([0x00, 0x00], nil), ([], nil),
    ]
    for (bytes, encoding) in cases { #expect(WideEncoding(beginningWith: bytes) == encoding) }
    #expect(WideEncoding.utf16BigEndian.remedy.hasSuffix("iconv -f UTF-16BE -t UTF-8"))
  }
}
