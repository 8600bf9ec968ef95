#!/bin/sh
# The primary of compose.replicas.yaml. Each replica has a session for each core of the machine, and eleven more.
exec docker-entrypoint.sh postgres \
  -c wal_level=replica -c max_wal_senders=8 -c wal_keep_size=1GB \
  -c password_encryption=scram-sha-256 -c max_connections=500
