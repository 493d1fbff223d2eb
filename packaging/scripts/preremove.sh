#!/bin/sh
# Before a removal (`remove` of dpkg, 0 of rpm), not before an upgrade.
case "$1" in remove | 0) ;; *) exit 0 ;; esac
test -d /run/systemd/system || exit 0
systemctl disable --now counterflow-agent.service
