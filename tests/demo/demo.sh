#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# A private session bus from which queryd is activated on a store of its own; called by tests/run, which has built all.
#   demo.sh demo [--rows N] | bench [GROUP...] [OPTIONS] | shell [DATABASE] [-- COMMAND...] | show
# Nothing of the user's session is used or changed; the folder goes with the program.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=${QUERYD_BUILD_DIR:?run this by tests/run}
name=org.queryd.Query1

# A bus address as D-Bus wants it: https://dbus.freedesktop.org/doc/dbus-specification.html#addresses
get_address() {
    printf 'unix:path='
    printf %s "$world/bus" | LC_ALL=C sed 's/%/%25/g; s/ /%20/g; s/,/%2c/g; s/;/%3b/g; s/:/%3a/g'
}

# write_launcher [ARGUMENT]: the daemon by a script, since paths may hold what a service file has no quotes for
write_launcher() {
    printf '#!/bin/bash\nexec %q %s\n' "$build/daemon/queryd" "${1+$(printf %q "$1")}" >"$world/launch"
    chmod 700 "$world/launch"
}

make_world() {
    world=$(mktemp -d "${TMPDIR:-/var/tmp}/queryd-XXXXXX")
    trap clean_up EXIT
    mkdir -m 700 "$world"/{services,run,config,data,tmp}
    cat >"$world/bus.conf" <<END
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <keep_umask/>
  <listen>$(get_address)</listen>
  <servicedir>$world/services</servicedir>
  <limit name="max_incoming_bytes">1000000000</limit>
  <limit name="max_outgoing_bytes">1000000000</limit>
  <limit name="max_message_size">1000000000</limit>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
END
    write_launcher
    printf '[D-BUS Service]\nName=%s\nExec="%s"\n' "$name" "$world/launch" >"$world/services/$name.service"
    export XDG_DATA_HOME=$world/data XDG_CONFIG_HOME=$world/config XDG_RUNTIME_DIR=$world/run
    DBUS_SESSION_BUS_ADDRESS=$(get_address)
    export DBUS_SESSION_BUS_ADDRESS
    export PATH=$build/client-lib/queryctl:$PATH LD_LIBRARY_PATH=$build/client-lib GI_TYPELIB_PATH=$build/client-lib
    unset DBUS_STARTER_ADDRESS DBUS_STARTER_BUS_TYPE NOTIFY_SOCKET WATCHDOG_USEC WATCHDOG_PID
}

# It writes its address when it listens: reading that line is all the waiting there is.
start_bus() {
    # in a session of its own: an interrupt from the terminal is for this script, which ends the daemon before the bus
    coproc BUS { exec setsid dbus-daemon --config-file="$world/bus.conf" --nofork --print-address=1 2>"$world/log"; }
    # shellcheck disable=SC2153
    bus_pid=$BUS_PID
    read -r <&"${BUS[0]}" || { cat "$world/log" >&2; exit 2; }
}

# The bus goes only when the daemon, which it has started, has left: it writes to the folder until then.
clean_up() {
    local status=$? daemon
    trap '' INT TERM PIPE
    set +e
    if [[ -n ${bus_pid:-} ]]; then
        daemon=$(gdbus call --session -d org.freedesktop.DBus -o /org/freedesktop/DBus \
            -m org.freedesktop.DBus.GetConnectionUnixProcessID "$name" 2>/dev/null |
            sed -nE 's/^\(uint32 ([0-9]+),\)$/\1/p') || true
        if [[ -n $daemon ]] && kill "$daemon" 2>/dev/null; then
            tail --pid="$daemon" -s 0.05 -f /dev/null >/dev/null # it would end with a reader of ours that has gone
        fi
        kill "$bus_pid" 2>/dev/null || true
        wait "$bus_pid" 2>/dev/null || true
    fi
    [[ $status -le 1 || ! -s $world/log ]] || { echo "--- log of the bus and the daemon:" >&2; tail -n 20 "$world/log" >&2; }
    rm -rf "$world"
    exit "$status"
}

show_command() {
    printf '\n$ '
    printf '%s ' "${@@Q}" | sed -E "s/'([A-Za-z0-9._\/=:-]+)'/\1/g"
    printf '\n'
    "$@"
}

# The same service, the same table, for programs without our library.
show() {
    local sql='SELECT id, t1 FROM founding WHERE id = 7'
    echo
    echo "The same service to everybody else:"
    show_command gdbus call --session -d $name -o /org/queryd/Query1 -m $name.Query sql "$sql" '{}' '{}'
    show_command busctl --user call $name /org/queryd/Query1 $name QueryText 'sssa{sv}' sql "$sql" json 0
    show_command queryctl sql "$sql"
    echo
}

# A folder is served as it is, a database file by a copy.
use_database() {
    if [[ -d $1 ]]; then
        write_launcher "--directory=$1"
    else
        mkdir -m 700 "$world/data/queryd"
        sqlite3 "$1" ".backup '$world/data/queryd/queryd.db'"
        echo "Serving a copy of $1." >&2
    fi
}

shell() {
    local database=
    [[ $# -gt 0 && $1 != -- ]] && { database=$(realpath -e "$1"); shift; }
    [[ $# -gt 0 && $1 == -- ]] && shift
    make_world
    [[ -z $database ]] || use_database "$database"
    start_bus
    if [[ $# -gt 0 ]]; then
        "$@" || exit $?
        return
    fi
    cat <<END
A private bus with queryd, which starts with the first call. "exit" ends both. Try:
  queryctl update "CREATE TABLE t(a, b)" && queryctl update "INSERT INTO t VALUES(1, 'one')" && queryctl sql "SELECT * FROM t"
  gdbus call --session -d $name -o /org/queryd/Query1 -m $name.Query sql "SELECT sqlite_version()" {} {}
  busctl --user introspect $name /org/queryd/Query1
END
    "${SHELL:-/bin/bash}" || true
}

verb=${1:-}
shift || true
case $verb in
    demo)
        make_world
        start_bus
        "$build/tests/demo/queryd-demo" --show="$here/demo.sh" "$@"
        ;;
    bench)
        make_world
        mkdir -m 700 "$world/config/queryd"
        # it stays while others are measured, and executes what is measured: no result is remembered
        printf '[Limits]\nidle_exit_ms=0\nresult_memory_bytes=0\nresult_shared_bytes=0\n' >"$world/config/queryd/queryd.conf"
        # whoever runs in this world has a disk that takes so long
        [[ -z ${QUERYD_SYNC_USEC:-} ]] || export LD_PRELOAD=$build/tests/bench/libslow-sync.so
        start_bus
        "$build/tests/bench/queryd-bench" "$@"
        ;;
    shell) shell "$@" ;;
    show) show ;;
    *) echo "demo.sh: demo, bench or shell" >&2; exit 2 ;;
esac
