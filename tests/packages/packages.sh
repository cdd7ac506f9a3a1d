#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# packages.sh FOLDER [--keep] [--check]
#
# Debian packages of the last commit: the source package, its build in a root that has only what Build-Depends names, lintian,
# and the installation on a bare Debian 12 that boots with systemd. There a new user's session runs the README's examples and
# the other tests of data/debian/tests, and the removal leaves no file. --check runs the unit tests in the build, too. --keep
# keeps the roots.
#
# Called by root, on a machine with mmdebstrap and systemd-nspawn; exit status 77 where that is not possible, with the reason
# on stderr. Results are in FOLDER/result. The two roots are kept as archives for a week: to download them takes long.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
suite=bookworm

say() {
    printf '\n== %s\n' "$*" >&2
}

refuse() {
    echo "packages: skipped: $*" >&2
    exit 77
}

# in_root FOLDER ARGUMENTS...: a container of that root, on the network of the host
in_root() {
    local folder=$1
    shift
    systemd-nspawn --quiet --directory="$folder" --register=no --keep-unit --resolv-conf=copy-host "$@"
}

# --- the source package -------------------------------------------------------------------------------------------------------

# data/debian becomes debian/: the top level of the tree is the project's own.
make_source() {
    local tree
    [[ -z $(git -C "$root" status --porcelain) ]] || echo "packages: what is not committed is not in them" >&2
    rm -rf "$work/source"
    mkdir -p "$work/source"
    [[ -f $root/build/build.ninja ]] || meson setup --werror "$root/build" "$root" >/dev/null
    meson dist -C "$root/build" --no-tests --allow-dirty --formats xztar >"$work/dist.log" 2>&1 || {
        cat "$work/dist.log" >&2
        return 1
    }
    version=$(dpkg-parsechangelog -l "$root/data/debian/changelog" -S Version)
    tree=$work/source/queryd-${version%-*}
    cp "$root/build/meson-dist/queryd-${version%-*}.tar.xz" "$work/source/queryd_${version%-*}.orig.tar.xz"
    tar -xf "$work/source/queryd_${version%-*}.orig.tar.xz" -C "$work/source"
    cp -r "$tree/data/debian" "$tree/debian"
    (cd "$work/source" && dpkg-source -b "$tree" >/dev/null && rm -rf "$tree")
}

# --- roots --------------------------------------------------------------------------------------------------------------------

# make_archive NAME MMDEBSTRAP-ARGUMENTS...: $work/cache/NAME.tar, unless there is a recent one
make_archive() {
    local archive=$work/cache/$1.tar
    shift
    find "$work/cache" -name "$(basename "$archive")" -mtime +7 -delete
    [[ -s $archive ]] && return
    say "a root of Debian 12: $(basename "$archive" .tar)"
    mmdebstrap --quiet --format=tar --skip=cleanup/apt/lists "$@" "$suite" "$archive.new" >"$archive.log" 2>&1 || {
        tail -n 20 "$archive.log" >&2
        rm -f "$archive.new"
        refuse "mmdebstrap could not make a root; is there a network?"
    }
    mv "$archive.new" "$archive"
}

# unpack NAME FOLDER
unpack() {
    rm -rf "$2"
    mkdir -p "$2"
    tar -xf "$work/cache/$1.tar" -C "$2"
}

# --- steps --------------------------------------------------------------------------------------------------------------------

build_packages() {
    local builder=$work/builder depends
    depends=$(sed -n '/^Build-Depends:/,/^[^ ]/p' "$root/data/debian/control" | sha256sum | cut -c1-12)
    # shellcheck disable=SC2016
    make_archive "build-$depends" --variant=buildd --customize-hook="copy-in $work/source /tmp" \
        --customize-hook='chroot "$1" sh -c "apt-get -q -y build-dep /tmp/source/*.dsc && rm -r /tmp/source"' \
        --customize-hook='chroot "$1" useradd --home-dir /srv/build --create-home builder'
    say "building the packages of $version"
    unpack "build-$depends" "$builder"
    cp -r "$work/source" "$builder/srv/build/source"
    in_root "$builder" --pipe --private-network --setenv=DEB_BUILD_OPTIONS="parallel=$(nproc) $build_options" bash -ec '
        chown -R builder /srv/build/source
        runuser -u builder -- bash -ec "cd ~/source && dpkg-source -x *.dsc tree && cd tree && dpkg-buildpackage -us -uc"' \
        >"$work/build.log" 2>&1 </dev/null || { tail -n 60 "$work/build.log" >&2; return 1; }
    rm -rf "$builder/srv/build/source/tree"
    mkdir -p "$result"
    cp "$builder"/srv/build/source/* "$result"
    rm -rf "$builder"
    ! grep -E '^(dpkg|dh_)[a-z-]*: warning|\.[ch]:[0-9]+:.* warning:' "$work/build.log" | grep -v 'unsigned source package' >&2
}

check_packages() {
    say "lintian"
    lintian --allow-root --fail-on error,warning --display-info --pedantic "$result"/*.changes >&2
}

install_and_test() {
    local bare=$work/bare status=0
    make_archive bare --variant=minbase --include=systemd-sysv,libpam-systemd,dbus-user-session,autopkgtest
    unpack bare "$bare"
    rm -f "$bare/etc/machine-id"
    cp -r "$result" "$bare/srv/packages"
    cp "$root/tests/packages/inside.sh" "$bare/srv/inside.sh"
    cat >"$bare/etc/systemd/system/queryd-packages.service" <<'END'
[Unit]
Description=Tests of queryd's packages
After=multi-user.target systemd-user-sessions.service
SuccessAction=exit
FailureAction=exit
[Service]
Type=oneshot
ExecStart=/bin/bash /srv/inside.sh
StandardOutput=append:/srv/inside.log
StandardError=inherit
END
    mkdir -p "$bare/etc/systemd/system/default.target.wants"
    ln -s ../queryd-packages.service "$bare/etc/systemd/system/default.target.wants/queryd-packages.service"
    say "a bare Debian 12 boots, and installs them"
    in_root "$bare" --boot --console=pipe >"$work/boot.log" 2>&1 </dev/null || status=$?
    [[ -f $bare/srv/inside.log ]] || {
        tail -n 20 "$work/boot.log" >&2
        refuse "systemd does not boot in a container here"
    }
    cp "$bare/srv/inside.log" "$work/inside.log"
    cp -r "$bare/srv/autopkgtest" "$work" 2>/dev/null || true
    cat "$work/inside.log" >&2
    [[ -n $keep ]] || rm -rf "$bare"
    return "$status"
}

[[ $# -ge 1 ]] || { echo "usage: packages.sh FOLDER [--keep] [--check]" >&2; exit 2; }
mkdir -p "$1/cache"
work=$(cd "$1" && pwd)
result=$work/result
keep='' build_options=nocheck version=''
shift
for argument in "$@"; do
    case $argument in
        --keep) keep=yes ;;
        --check) build_options= ;;
        *) echo "packages.sh: no option is named '$argument'" >&2; exit 2 ;;
    esac
done
[[ $(id -u) -eq 0 ]] || refuse "root is needed to make and boot a Debian of its own"
for program in mmdebstrap systemd-nspawn lintian dpkg-source; do
    command -v "$program" >/dev/null || refuse "'$program' is not installed"
done

rm -rf "$result" "$work/autopkgtest"
make_source
build_packages
check_packages
install_and_test
say "packages of $version are in $result"
