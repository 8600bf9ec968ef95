extension Schema {
  /// Bodies are packed, and what is written for each notification touches as few pages as it can.
  ///
  /// Bodies that are there stay as they are; `entitled store vacuum` packs them.
  static let packingVersion = """
    -- What many documents share, such as chains of certificates.
    CREATE TABLE common_part (
      part_id INTEGER PRIMARY KEY,
      content_hash BLOB NOT NULL UNIQUE, -- SHA-256
      content BLOB NOT NULL
    ) STRICT;
    ALTER TABLE evidence ADD COLUMN packing INTEGER NOT NULL DEFAULT 0; -- 0: as it arrived; 1: CompressedBody

    -- A notification of version 2 is known by its UUID, and need not be found by its content.
    ALTER TABLE evidence ADD COLUMN is_found_by_content INTEGER NOT NULL DEFAULT 1;
    DROP INDEX evidence_is_kept_once;
    CREATE UNIQUE INDEX evidence_is_kept_once
      ON evidence (content_hash, app, kind, customer_id, rejection) WHERE is_found_by_content = 1;
    -- line_evidence leads to those of version 2.
    DROP INDEX notification_of_line;
    CREATE INDEX notification_of_line ON notification (original_transaction_id, app, environment)
      WHERE version = 1;

    -- When time alone next changes an answer of a customer: in the customer's row, which is written anyway.
    ALTER TABLE customer ADD COLUMN due_at INTEGER; -- milliseconds since 1970; NULL: never
    UPDATE customer SET due_at = (SELECT at FROM due WHERE due.customer_number = customer.customer_number);
    DROP TABLE due;
    CREATE INDEX customer_by_due ON customer (due_at) WHERE due_at IS NOT NULL;

    """
}
