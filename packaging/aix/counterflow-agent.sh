#!/bin/sh
# Runs the agent on AIX under the System Resource Controller. UNVERIFIED: written by IBM's documentation of mkssys, mkitab
# and startsrc, never run on an AIX machine. confluent-kafka has no wheel for AIX: build it with librdkafka there first.
# Without Python on AIX: `counterflow fetch sftp://… --follow` on a Linux machine (docs/operations.md, Files elsewhere).
#
#   counterflow-agent.sh install    once, as root: defines the subsystem, and starts it with the machine
#   counterflow-agent.sh start | stop | status
set -eu
program=${COUNTERFLOW_PROGRAM:-/opt/counterflow/bin/counterflow}
config=${COUNTERFLOW_CONFIG:-/etc/counterflow/agent.yaml}
user=${COUNTERFLOW_USER:-counterfl}
name=counterflow

case "${1-}" in
install)
  test -x "$program" || { echo "error: $program is not there; hint: COUNTERFLOW_PROGRAM=<path>" >&2; exit 2; }
  test -r "$config" || { echo "error: $config is not there; hint: COUNTERFLOW_CONFIG=<path>" >&2; exit 2; }
  id "$user" > /dev/null || { echo "error: no user $user; hint: mkuser $user" >&2; exit 2; }
  # -S -n -f: stop by signals, SIGTERM (15) normally and SIGKILL (9) when forced; -R: start again if it ends
  mkssys -s "$name" -p "$program" -a "agent run --config $config" -u "$(id -u "$user")" -S -n 15 -f 9 -R \
    -i /dev/null -o /var/log/counterflow-agent.log -e /var/log/counterflow-agent.log
  mkitab "$name:2:once:/usr/bin/startsrc -s $name > /dev/console 2>&1"
  ;;
start) startsrc -s "$name" ;;
stop) stopsrc -s "$name" ;;
status) lssrc -s "$name" ;;
*) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
