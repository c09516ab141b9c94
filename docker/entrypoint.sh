#!/bin/bash
# Run a command in Lodestar's environment.
set -e
cd /opt/lodestar
. ./env.sh
exec "$@"
