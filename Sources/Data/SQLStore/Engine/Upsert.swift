/// SQL that inserts a row, or replaces the other columns of the row with the same key.
enum Upsert {
  /// Returns the statement, with the values of `columns` as parameters. `key` and `columns` are lists with commas.
  static func sql(_ table: String, key: String, _ columns: String) -> String {
    let names = list(columns)
    let replaced = names.filter { !list(key).contains($0) }.map { "\($0) = excluded.\($0)" }
    return """
      INSERT INTO \(table) (\(columns)) VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
      ON CONFLICT (\(key)) DO UPDATE SET \(replaced.joined(separator: ", "))
      """
  }

  private static func list(_ names: String) -> [String] {
    names.split { ", \n".contains($0) }.map(String.init)
  }
}
