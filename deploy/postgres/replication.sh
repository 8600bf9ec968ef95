#!/bin/sh
# Runs once, at the end of the setup of a new database cluster: the standby may connect with the user's password, and each
# commit waits until it has it on disk. With an argument of the server, the setup itself would wait for a standby.
set -eu
echo "host replication entitled all scram-sha-256" >> "$PGDATA/pg_hba.conf"
echo "synchronous_standby_names = 'standby'" >> "$PGDATA/postgresql.conf"
