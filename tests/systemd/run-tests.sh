#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# run-tests.sh BUILD RESULTS [PYTEST ARGUMENTS...]
#
# The tests of the installed product in a real systemd user session. Leaves RESULTS/systemd.xml, or systemd.skip with the reason
# why this machine cannot run them, or systemd.failed.
#
# The product is installed as "meson install" does it, into memory; the prefix of the build is then overlaid with that in the
# session's own mounts, so that systemd, the bus and the tests find every file at its real place and the host sees nothing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
stage=/run/userbus/stage
copy=/run/userbus/tests

build_option() {
    meson introspect --buildoptions "$QUERYD_BUILD" |
        /usr/bin/python3 -c 'import json, sys; print(*(o["value"] for o in json.load(sys.stdin) if o["name"] == sys.argv[1]))' "$1"
}

# As root in the session's mounts, before it begins. The checkout may be where the ordinary user cannot look: hence the copy.
prepare() {
    local prefix
    prefix=$(build_option prefix)
    mkdir -p "$stage" "$copy"
    DESTDIR=$stage meson install -C "$QUERYD_BUILD" --no-rebuild --quiet >/run/userbus/install.log 2>&1 || {
        cat /run/userbus/install.log >&2
        return 1
    }
    mount -t overlay -o "lowerdir=$stage$prefix:$prefix" overlay "$prefix" || {
        echo "run-tests.sh: '$prefix' cannot be overlaid" >&2
        return 77
    }
    cp -r "$root/tests/e2e" "$root/tests/systemd" "$root/tests/tools" "$copy"
    chmod -R a+rX "$copy"
    # A program that has rights of its own, to see that the service cannot gain them.
    install -m 4755 /usr/bin/id /run/userbus/setuid-id
}

run() {
    local build=$1 results=$2 status=0 prefix libdir
    shift 2
    QUERYD_BUILD=$(cd "$build" && pwd)
    export QUERYD_BUILD
    prefix=$(build_option prefix)
    libdir=$(build_option libdir)
    # shellcheck disable=SC2016
    "$root/tests/systemd/userbus.sh" --prepare "$root/tests/systemd/run-tests.sh" \
        env PATH="$prefix/bin:/usr/bin:/bin" LD_LIBRARY_PATH="$prefix/$libdir" PYTHONDONTWRITEBYTECODE=1 \
        bash -c 'cd "$1" && shift
                 /usr/bin/python3 -m pytest -q -p no:cacheprovider -rs --junitxml="$HOME/results.xml" "$@" >&2
                 cat "$HOME/results.xml"' bash "$copy/systemd" "$@" \
        >"$results/systemd.xml" 2> >(tee "$results/systemd.log" >&2) || status=$?
    [[ -s $results/systemd.xml ]] && return
    rm -f "$results/systemd.xml"
    if [[ $status -eq 77 ]]; then
        echo "systemd: $(grep -m 1 -E '^(userbus|run-tests).sh:' "$results/systemd.log")" >"$results/systemd.skip"
    else
        echo "systemd: the tests did not run to their end (exit status $status): $results/systemd.log" >"$results/systemd.failed"
    fi
}

if [[ -n ${USERBUS_STAGE:-} ]]; then
    prepare
elif [[ $# -ge 2 ]]; then
    run "$@"
else
    echo "usage: run-tests.sh BUILD RESULTS [PYTEST ARGUMENTS...]" >&2
    exit 2
fi
