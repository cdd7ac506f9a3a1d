#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# userbus.sh [--prepare PROGRAM] COMMAND...
#
# Runs COMMAND as an ordinary user inside a real session of "systemd --user", with journald, cgroups and a session bus, on a
# machine that need not have booted with systemd. To be called by root. PROGRAM runs as root in the same mounts before the
# session begins. The host sees none of it but one cgroup directory, which goes at the end; processes and mounts live in
# namespaces of their own and end with them.
#
# Exit status: COMMAND's; 77 when this machine does not permit it, with the reason on stderr.
# The script runs itself anew for each step into a deeper namespace: USERBUS_STAGE says how deep it is.
set -euo pipefail

user=queryd-test
here=/run/userbus
home=$here/home

refuse() {
    echo "userbus.sh: $*" >&2
    exit 77
}

# --- outside: what is permitted, and the one thing to clean up --------------------------------------------------------------

find_cgroups() {
    local folder
    for folder in /sys/fs/cgroup /sys/fs/cgroup/unified; do
        if [[ -e $folder/cgroup.controllers ]]; then
            echo "$folder"
            return
        fi
    done
}

find_uid() {
    local uid=4242
    while getent passwd "$uid" >/dev/null || [[ -e /run/user/$uid ]]; do
        uid=$((uid + 1))
    done
    echo "$uid"
}

remove_cgroups() {
    local folder=$1 tries
    # The kernel lets the last process go a moment after its parent has seen it end.
    for ((tries = 0; tries < 100; tries++)); do
        find "$folder" -depth -type d -exec rmdir {} + 2>/dev/null || true
        [[ -d $folder ]] || return 0
        sleep 0.02
    done
    echo "userbus.sh: '$folder' is still in use" >&2
}

stage_outside() {
    local cgroups
    [[ $(id -u) -eq 0 ]] || refuse "needs root"
    [[ -x /lib/systemd/systemd && -x /lib/systemd/systemd-journald ]] || refuse "systemd is not installed"
    unshare --mount --pid --ipc --uts --cgroup --fork mount --make-rprivate / 2>/dev/null || refuse "namespaces are not permitted"
    cgroups=$(find_cgroups)
    [[ -n $cgroups ]] || refuse "no cgroup v2 hierarchy is mounted"
    export USERBUS_CGROUP=queryd-test-$$ USERBUS_STAGE=namespaces
    USERBUS_UID=$(find_uid)
    export USERBUS_UID
    mkdir "$cgroups/$USERBUS_CGROUP" 2>/dev/null || refuse "cgroups cannot be made"
    # shellcheck disable=SC2064
    trap "remove_cgroups '$cgroups/$USERBUS_CGROUP'" EXIT
    unshare --mount --pid --ipc --uts --fork --kill-child "$0" "$@"
}

# --- a tree of cgroups whose root is ours ------------------------------------------------------------------------------------

stage_namespaces() {
    mount --make-rprivate /
    mount -t proc proc /proc
    umount -R /sys/fs/cgroup 2>/dev/null || true
    mount -t cgroup2 none /sys/fs/cgroup
    echo $$ >"/sys/fs/cgroup/$USERBUS_CGROUP/cgroup.procs"
    export USERBUS_STAGE=session
    exec unshare --cgroup "$0" "$@"
}

# Controllers reach the session only if each level above passes them on; a hybrid host has none to give.
pass_controllers_on() {
    local folder=$1 controller
    for controller in memory pids; do
        echo "+$controller" >"$folder/cgroup.subtree_control" 2>/dev/null || true
    done
}

make_cgroups() {
    local folder=/sys/fs/cgroup name
    umount /sys/fs/cgroup
    mount -t cgroup2 none /sys/fs/cgroup
    # journald takes the cgroup of process 1 for the root: it has to be /init.scope.
    mkdir -p "$folder/init.scope" "$folder/command"
    echo $$ >"$folder/init.scope/cgroup.procs"
    for name in user.slice "user-$USERBUS_UID.slice" "user@$USERBUS_UID.service"; do
        pass_controllers_on "$folder"
        folder=$folder/$name
        mkdir -p "$folder"
    done
    user_cgroup=$folder
}

# --- the machine as a session expects it --------------------------------------------------------------------------------------

make_run() {
    mount -t tmpfs -o mode=755 tmpfs /run
    mkdir -p /run/systemd/system /run/systemd/journal /run/systemd/unit-root "$runtime" /run/log /run/lock /run/dbus "$home"
    # journald keeps a file for each user, which that user may read, only in its place for good; it goes there at once if
    # this mark is found.
    touch /run/systemd/journal/flushed
    mount -t tmpfs -o mode=755 tmpfs /var/log
    mkdir -m 2755 /var/log/journal
    chown "$USERBUS_UID:$USERBUS_UID" "$runtime" "$home"
    chmod 700 "$runtime"
}

make_user() {
    cp /etc/passwd /etc/group "$here"
    echo "$user:x:$USERBUS_UID:$USERBUS_UID::$home:/bin/bash" >>"$here/passwd"
    echo "$user:x:$USERBUS_UID:" >>"$here/group"
    mount --bind "$here/passwd" /etc/passwd
    mount --bind "$here/group" /etc/group
    if [[ ! -s /etc/machine-id ]]; then
        systemd-machine-id-setup --print | head -n 1 >"$here/machine-id"
        mount --bind "$here/machine-id" /etc/machine-id
    fi
}

wait_for_socket() {
    local tries
    for ((tries = 0; tries < 500; tries++)); do
        [[ -S $1 ]] && return 0
        sleep 0.02
    done
    echo "userbus.sh: '$1' did not come" >&2
    return 1
}

as_user() {
    runuser -u "$user" -- env -i "${environment[@]}" "$@"
}

start_session() {
    /lib/systemd/systemd-journald </dev/null >"$here/journald.log" 2>&1 &
    journald=$!
    wait_for_socket /run/systemd/journal/socket
    chown -R "$USERBUS_UID:$USERBUS_UID" "$user_cgroup"
    (
        echo "$BASHPID" >"$user_cgroup/cgroup.procs"
        exec runuser -u "$user" -- env -i "${environment[@]}" SYSTEMD_LOG_TARGET=journal \
            /lib/systemd/systemd --user </dev/null >"$here/systemd.log" 2>&1
    ) &
    manager=$!
    wait_for_socket "$runtime/bus" || { cat "$here/systemd.log" >&2; return 1; }
}

stage_session() {
    local user_cgroup runtime=/run/user/$USERBUS_UID journald manager status=0 environment
    environment=(HOME="$home" USER="$user" LOGNAME="$user" LANG=C.UTF-8 XDG_RUNTIME_DIR="$runtime"
        PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin)
    make_cgroups
    make_run
    make_user
    if [[ $1 == --prepare ]]; then
        "$2"
        shift 2
    fi
    cd /
    start_session
    environment+=(DBUS_SESSION_BUS_ADDRESS="unix:path=$runtime/bus")
    (
        echo "$BASHPID" >/sys/fs/cgroup/command/cgroup.procs
        cd "$home"
        as_user "$@"
    ) || status=$?
    as_user systemctl --user exit >/dev/null 2>&1 || true
    wait "$manager" || true
    kill "$journald"
    exit "$status"
}

if [[ $# -eq 0 ]]; then
    echo "usage: userbus.sh [--prepare PROGRAM] COMMAND..." >&2
    exit 2
fi
case ${USERBUS_STAGE:-outside} in
    outside) stage_outside "$@" ;;
    namespaces) stage_namespaces "$@" ;;
    session) stage_session "$@" ;;
esac
