#!/bin/sh
# Runs once, in the new database cluster of the primary: the standby may connect with the user's password.
set -eu
echo "host replication entitled all scram-sha-256" >> "$PGDATA/pg_hba.conf"
