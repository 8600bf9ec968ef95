import PostgreSQL
import Testing

@Suite struct PostgresValueTests {
  @Test("Texts are equal if their bytes are")
  func texts() {
    #expect(PostgresValue.text("ren\u{E9}") == .text("ren\u{E9}"))
    #expect(PostgresValue.text("ren\u{E9}") != .text("rene\u{301}"))
    #expect(PostgresValue.text("1") != .bytea([49]) && PostgresValue.null(.text) != .text(""))
    #expect(PostgresValue.null(.text) != .null(.int8) && PostgresValue.int8(1) == .int8(1))
  }
}
