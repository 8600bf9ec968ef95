#!/bin/sh
# The standby of compose.replicas.yaml: copies the primary at its first start, then follows it. To make it the primary
# after the loss of the other one: docker compose exec standby pg_ctl promote
set -eu
PGPASSWORD=$(cat /run/secrets/database-password)
export PGPASSWORD
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  until pg_basebackup --host primary --username entitled --pgdata "$PGDATA" --wal-method stream --write-recovery-conf \
    --checkpoint fast; do
    rm -rf "${PGDATA:?}"/*
    sleep 2
  done
  chmod 700 "$PGDATA"
fi
# Its copy of the primary's settings would make it wait for a standby of its own.
exec postgres -c hot_standby=on -c synchronous_standby_names= \
  -c "primary_conninfo=host=primary user=entitled password=$PGPASSWORD application_name=standby"
