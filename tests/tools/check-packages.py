#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What can be said of the Debian packages without building them (tests/run packages does): each installed file is in one
package, each line of a package names a file, and the release is the same everywhere."""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys

from tap import ROOT, Tap, read

DEBIAN = os.path.join(ROOT, "data/debian")
# (meson option, what it installs): a build without it has no such file
OPTIONAL = (("documentation", "*/doc/*"), ("docs", "*/man/*"), ("introspection", "*QueryClient-1.*"), ("vapi", "*/vapi"),
            ("python", "*/python3/*"), ("http", "*queryd-http*"), ("remote", "*queryd-service*"), ("adbc", "*adbc*"))


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", what, build], capture_output=True, text=True, check=True).stdout)


def installed(build):
    """Paths as on Debian, without the first slash; the triplet of the architecture is there in any case."""
    options = {o["name"]: o["value"] for o in introspect(build, "--buildoptions")}
    prefix, libdir = options["prefix"], os.path.join(options["prefix"], options["libdir"])
    for path in introspect(build, "--installed").values():
        if path.startswith(libdir + "/") and not path.startswith(os.path.join(prefix, "lib/systemd")) and "/python3" not in path:
            yield "usr/lib/TRIPLET" + path[len(libdir):]
        elif "/adbc/drivers/" in path:
            yield "etc" + path[path.index("/adbc/"):]
        else:
            yield re.sub(r"lib/python3[^/]*/(site|dist)-packages", "lib/python3/dist-packages", "usr" + path[len(prefix):])


def install_lines():
    for path in sorted(glob.glob(os.path.join(DEBIAN, "*.install"))):
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                yield os.path.basename(path).removesuffix(".install"), line.split()[0]


def matches(path, pattern):
    return fnmatch.fnmatchcase(path, pattern) or fnmatch.fnmatchcase(path, pattern + "/*")


def main():
    tap = Tap()
    build = sys.argv[1]
    files = sorted(installed(build))
    lines = list(install_lines())
    for path in files:
        packages = [package for package, pattern in lines if matches(path, pattern)]
        tap.case(f"packages/{path}", [] if len(packages) == 1 else
                 [f"in {len(packages)} packages: {packages}; data/debian/*.install list the files"])
    for package, pattern in lines:
        if not any(matches(path, pattern) for path in files):
            missing = [option for option, paths in OPTIONAL if fnmatch.fnmatchcase(pattern, paths)]
            if missing:
                tap.skip(f"packages/{package}/{pattern}", f"built without {missing[0]}")
            else:
                tap.case(f"packages/{package}/{pattern}", ["no such file is installed"])
    binaries = set(re.findall(r"^Package: (\S+)$", read("data/debian/control"), re.M))
    unknown = {package for package, _pattern in lines} - binaries
    tap.case("packages/control", [f"{package} is not in debian/control" for package in unknown])

    release = re.search(r"version: '([\d.]+)'", read("meson.build")).group(1)
    of_packages = re.match(r"queryd \(([\d.]+)-", read("data/debian/changelog")).group(1)
    of_metainfo = re.search(r'<release version="([\d.]+)"', read("data/org.queryd.queryd.metainfo.xml")).group(1)
    others = (("debian/changelog", of_packages), ("the metainfo", of_metainfo))
    tap.case("packages/release", [f"{name} is of {found}, the project of {release}" for name, found in others if found != release])
    tap.finish()


main()
