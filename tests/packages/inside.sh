#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs as root inside the bare Debian of packages.sh, once systemd has booted it. The log is what packages.sh shows.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/srv

say() {
    printf '\n-- %s\n' "$*"
}

quietly() {
    "$@" >/srv/last.log 2>&1 || { cat /srv/last.log; return 1; }
}

files() {
    find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /srv -o -path /var/lib/apt \
        -o -path /var/cache -o -path /var/log -o -path /var/lib/dpkg -o -path /var/lib/systemd -o -path /var/tmp \) -prune \
        -o -type f -print | sort
}

cd /srv
mapfile -t packages < <(printf '%s\n' /srv/packages/*.deb | grep -v dbgsym)
dpkg --get-selections >selections.before
files >files.before
quietly apt-get update -q

say "Debian $(cat /etc/debian_version), booted by systemd $(systemctl --version | awk 'NR == 1 { print $2 }'): apt-get install"
quietly apt-get install -q -y --no-install-recommends "${packages[@]}"
dpkg-query --show --showformat='${Package} ${Version}\n' | grep -E 'quer[yi]'

say "a user who has just been made, in a session of systemd-logind's: queryctl answers"
useradd --create-home --shell /bin/bash first
systemd-run --quiet --wait --pipe --collect --property=User=first --property=PAMName=login bash -xc '
    queryctl sql "SELECT sqlite_version() > 3 AS answers"
    systemctl --user show --property=ActiveState,NRestarts queryd.service
    systemctl --user list-unit-files "queryd*"
    systemd-analyze --user verify --man=no queryd.service queryd-http.socket queryd-service.socket
' 2>&1
loginctl terminate-user first

say "autopkgtest"
autopkgtest --ignore-restrictions=isolation-container --output-dir=/srv/autopkgtest --quiet --no-built-binaries \
    /srv/packages/*.dsc -- null >/srv/autopkgtest.log 2>&1 || {
    tail -n 30 /srv/autopkgtest.log
    for log in /srv/autopkgtest/*-std*; do
        say "$log"
        cat "$log"
    done
    exit 1
}
cat /srv/autopkgtest/summary

say "removed, they leave no file"
mapfile -t added < <(comm -13 <(awk '{ print $1 }' selections.before | sort) <(dpkg --get-selections | awk '{ print $1 }' | sort))
quietly apt-get purge -q -y "${added[@]}"
userdel --force --remove first >/dev/null 2>&1 || true
files >files.after
comm -13 files.before files.after | grep -E 'quer[yi]' && exit 1
echo "no file of queryd's is left"
