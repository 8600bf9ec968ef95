#include <libpq-fe.h>

// The fields of an error are macros of characters, which Swift cannot import.
enum {
  entitled_field_sqlstate = PG_DIAG_SQLSTATE,
  entitled_field_primary_message = PG_DIAG_MESSAGE_PRIMARY,
  entitled_field_constraint = PG_DIAG_CONSTRAINT_NAME,
  entitled_field_severity = PG_DIAG_SEVERITY_NONLOCALIZED,
  entitled_field_function = PG_DIAG_SOURCE_FUNCTION,
};
