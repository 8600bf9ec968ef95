import PostgresSupport
import Store
import Testing

@testable import SQLStore
@testable import SQLiteStore

@Suite struct TableDefinitionTests {
  @Test("A definition gives columns with types, the key, and references")
  func parsed() throws {
    let tables = TableDefinition.parse(
      """
      -- A comment (with brackets).
      CREATE TABLE pet (
        pet_id INTEGER PRIMARY KEY AUTOINCREMENT,
        owner TEXT NOT NULL REFERENCES person, -- a comment, with a comma
        photo BLOB,                            -- NULL: none
        PRIMARY KEY (pet_id)
      ) STRICT;
      CREATE INDEX pet_of ON pet (owner);
      CREATE TABLE probe (filler BLOB NOT NULL) STRICT;
      CREATE TABLE ride (
        pet_id INTEGER NOT NULL,
        day INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (pet_id, day)
      ) STRICT, WITHOUT ROWID;
      """)
    #expect(tables.map(\.name) == ["pet", "probe", "ride"])
    let pet = try #require(tables.first)
    #expect(pet.columns.map(\.name) == ["pet_id", "owner", "photo"])
    #expect(pet.columns.map(\.type) == [.number, .text, .bytes])
    #expect(pet.columns.map(\.reference) == [nil, "person", nil])
    #expect(pet.key == ["pet_id"] && pet.isNumbered)
    #expect(tables[1].columns.map(\.name) == ["filler"] && tables[1].key.isEmpty)
    #expect(tables[2].key == ["pet_id", "day"] && !tables[2].isNumbered)
    #expect(tables[2].select == "SELECT pet_id, day FROM ride ORDER BY pet_id, day")
  }

  @Test("The definitions name each table and column of SQLite but the terms, which no copy takes over")
  func complete() throws {
    let connection = try SQLiteConnectionFixture.make()
    let rows = try connection.prepare(
      """
      SELECT "table", group_concat("column", ', ') FROM (
        SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m JOIN pragma_table_info(m.name) c
          WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'history' ORDER BY m.name, c.cid)
        GROUP BY "table"
      """)
    var found: [String: String] = [:]
    while try rows.step() { found[rows.text(0) ?? ""] = rows.text(1) }
    rows.reset()
    let defined = Dictionary(
      uniqueKeysWithValues: TableDefinition.all.map { ($0.name, $0.columnList) })
    #expect(defined == found)
    #expect(TableDefinition.all.allSatisfy { !$0.key.isEmpty || $0.name == "health_probe" })
  }
}

/// A database in memory with the tables of the store.
private enum SQLiteConnectionFixture {
  static func make() throws -> any SQLConnection {
    let connection = try Connection.writer(path: ":memory:")
    try Schema.create(connection)
    return connection
  }
}
