#!/bin/sh
# Fires generated requests at a running server and holds its answers to its own OpenAPI document: no 5xx, no answer that the
# document does not know, nothing malformed accepted, nothing served without a key.
#
#   npm run schemathesis -- [URL]        default http://127.0.0.1:7420, or HOLDFAST_URL
#
# HOLDFAST_KEY is the key to use: one for all tenants with the scope admin reaches the most. Needs Python 3.10 or later. schemathesis is taken
# from the PATH (or SCHEMATHESIS), else installed into its own folder under HOLDFAST_SCHEMATHESIS_DIR (default: in the cache of the user).
set -eu

VERSION=4.32.5
url=${1:-${HOLDFAST_URL:-http://127.0.0.1:7420}}
[ $# -gt 0 ] && shift
: "${HOLDFAST_KEY:?is not set: make a key by "holdfast keys create --scope admin"}"

tool=${SCHEMATHESIS:-$(command -v schemathesis || true)}
if [ -z "$tool" ]; then
  dir=${HOLDFAST_SCHEMATHESIS_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/schemathesis-$VERSION}
  tool=$dir/bin/schemathesis
  if [ ! -x "$tool" ]; then
    echo "installing schemathesis $VERSION into $dir"
    python3 -m venv "$dir"
    "$dir/bin/pip" install --quiet "schemathesis==$VERSION"
  fi
fi

# positive_data_acceptance stays out: JSON Schema counts 17.0 as an integer and Holdfast does not (docs/ERRORS.md), and a request that is well
# formed may still be refused for what the ledger knows (422: an id used before, a model without max_cost).
exec "$tool" run "$url/openapi.json" --url "$url" \
  --header "Authorization: Bearer $HOLDFAST_KEY" \
  --exclude-checks positive_data_acceptance \
  --max-examples "${HOLDFAST_SCHEMATHESIS_EXAMPLES:-100}" \
  "$@"
