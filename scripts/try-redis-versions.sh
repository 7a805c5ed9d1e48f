#!/usr/bin/env bash
# Runs the tests that need nothing but Redis on the oldest and the newest Redis that Debian has (6.0 from bullseye, 8.0 from
# trixie) and on a Cluster of three of each. Needs a Debian machine on x86-64 with apt-get; installs nothing: packages are
# unpacked into a folder of their own (REDIS_VERSIONS_DIR, kept between runs).
#   scripts/try-redis-versions.sh [bullseye|trixie|installed]...
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${REDIS_VERSIONS_DIR:-${TMPDIR:-/tmp}/holdfast-redis-versions}
arch=x86_64-linux-gnu
mkdir -p "$folder"

# The mirror is the one that this machine uses for its own release.
mirror() {
  { cat /etc/apt/sources.list.d/debian.sources 2>/dev/null || true; } | awk '$1 == "URIs:" { print $2; exit }'
  { cat /etc/apt/sources.list 2>/dev/null || true; } | awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:/) { print $i; exit } }'
}

# fetch SUITE PACKAGE...: unpacks packages of another release into $folder/SUITE.
fetch() {
  local suite=$1 root=$folder/$1
  shift
  [ -e "$root/complete" ] && return
  rm -rf "$root" && mkdir -p "$root/apt/lists/partial" "$root/apt/archives/partial" "$root/debs"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror | head -n 1) $suite main" >"$root/apt/sources"
  touch "$root/apt/status"
  local options=(-qq -o "Dir::Etc::sourcelist=$root/apt/sources" -o Dir::Etc::sourceparts=- -o "Dir::State=$root/apt"
    -o "Dir::State::status=$root/apt/status" -o "Dir::Cache=$root/apt" -o APT::Sandbox::User=root -o Acquire::Retries=3)
  apt-get "${options[@]}" update
  (cd "$root/debs" && apt-get "${options[@]}" download "$@")
  for package in "$root"/debs/*.deb; do dpkg-deb -x "$package" "$root"; done
  touch "$root/complete"
}

# wrap SUITE COMMAND: makes $folder/SUITE/bin/redis-server, which runs the unpacked program with its own libraries.
wrap() {
  local bin=$folder/$1/bin
  mkdir -p "$bin"
  printf '#!/bin/sh\n%s "$@"\n' "$2" >"$bin/redis-server"
  chmod +x "$bin/redis-server"
}

prepare() {
  local root=$folder/$1
  case $1 in
    bullseye)
      fetch bullseye redis-server redis-tools liblua5.1-0 libhiredis0.14 libjemalloc2 libssl1.1 lua-cjson lua-bitop liblzf1
      local lua="LUA_PATH='$root/usr/share/lua/5.1/?.lua' LUA_CPATH='$root/usr/lib/$arch/lua/5.1/?.so'"
      wrap bullseye "exec env LD_LIBRARY_PATH='$root/usr/lib/$arch' $lua '$root/usr/bin/redis-server'"
      ;;
    trixie)
      # Its C library is newer than this machine's: the program runs by its own loader.
      fetch trixie redis-server redis-tools libc6 libgcc-s1 libstdc++6 libatomic1 libjemalloc2 libssl3t64 libzstd1 zlib1g \
        libsystemd0 libcap2 liblua5.1-0 lua-cjson lua-bitop liblzf1 libhiredis1.1.0
      local lua="LUA_PATH='$root/usr/share/lua/5.1/?.lua' LUA_CPATH='$root/usr/lib/$arch/lua/5.1/?.so'"
      local loader="$root/usr/lib64/ld-linux-x86-64.so.2"
      wrap trixie "exec env $lua '$loader' --library-path '$root/usr/lib/$arch' '$root/usr/bin/redis-server'"
      ;;
    installed) mkdir -p "$root/bin" ;;
    *) echo "unknown: $1" >&2 && exit 2 ;;
  esac
}

run() {
  local path=$folder/$1/bin:$PATH
  echo "== $(PATH=$path redis-server --version | cut -d' ' -f1-3), $2"
  PATH=$path REDIS_TOPOLOGY=$2 npx vitest run --config test/lua/vitest.config.ts "${@:3}"
}

if [ $# -eq 0 ]; then set -- bullseye installed trixie; fi
for version in "$@"; do
  prepare "$version"
  run "$version" single
  # What is about connections starts servers of its own, whatever the topology.
  run "$version" cluster test/lua test/contract/redis-model test/contract/redis-noscript
done
