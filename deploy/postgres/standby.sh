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
# The primary's arguments, because it replays for no fewer connections. Its copy of the primary's file would make it wait
# for its standby. The password comes from the environment, so that it may have any character and is no argument.
exec postgres -c hot_standby=on -c synchronous_standby_names= \
  -c wal_level=replica -c max_wal_senders=8 -c wal_keep_size=1GB \
  -c password_encryption=scram-sha-256 -c max_connections=500 \
  -c "primary_conninfo=host=primary user=entitled application_name=standby"
