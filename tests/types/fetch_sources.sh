#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fetch_sources.sh DIRECTORY PACKAGE…: the upstream sources of Debian packages, unpacked below
# DIRECTORY/src/PACKAGE. The machine's own package sources are asked, with sources switched on in a
# copy of their list; nothing on the system changes. Status 1 if they are not available.
set -u
directory=$1
shift
mkdir -p "$directory"/{parts,lists/partial,cache/archives/partial,down,src} || exit 1
directory=$(cd "$directory" && pwd)
. /etc/os-release
say() { printf '%s\n' "types: $*" >&2; }

missing=()
for package in "$@"; do
    [ -d "$directory/src/$package" ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

# Only the lists of the distribution itself: others may have no sources.
for list in /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] && grep -Eq "^Suites:(.* )?$VERSION_CODENAME( |$)" "$list" &&
        sed 's/^Types:.*/Types: deb-src/' "$list" >"$directory/parts/$(basename "$list")"
done
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -nE "/^deb (\[[^]]*\] )?[^ ]+ $VERSION_CODENAME(-[a-z]+)? /s/^deb /deb-src /p" \
        >"$directory/parts/lines.list"
apt=(apt-get -qq -o "Dir::Etc::sourcelist=/dev/null" -o "Dir::Etc::sourceparts=$directory/parts"
    -o "Dir::State::lists=$directory/lists" -o "Dir::Cache=$directory/cache" -o APT::Sandbox::User=)
"${apt[@]}" update >&2 || say "not every list of sources could be read"
for package in "${missing[@]}"; do
    # A mirror may list a security update that it does not have. Then the release's own version is taken.
    (cd "$directory/down" && { "${apt[@]}" source --download-only "$package" ||
        "${apt[@]}" source --download-only "$package/$VERSION_CODENAME"; } >&2) ||
        { say "no source package of $package can be had here: is there a network and a package source?"; exit 1; }
    rm -f "$directory/down/$package"_*.orig.tar.*.asc # a signature
    mkdir "$directory/src/$package.part" &&
        tar -xf "$directory/down/$package"_*.orig.tar.* -C "$directory/src/$package.part" --strip-components=1 &&
        mv "$directory/src/$package.part" "$directory/src/$package" || exit 1
done
