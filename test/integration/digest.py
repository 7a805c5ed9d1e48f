"""Works out Holdfast's digests from rows of its tables, by docs/EVENTS.md alone: Holdfast's own code is not used.

Reads JSON from standard input: {"head": {"partition", "position", "hash"}, "accounts": [{"account", "unit", "available",
"held", "used", "funded"}], "reservations": [{"id", "accounts", "units", "held": [{"unit", "amount"}]}]}, where the accounts and
the open reservations are those of one partition, and amounts are decimal texts. Prints the partition's digest, then
`account digest` for each account.

    python3 digest.py < rows.json
"""
import hashlib
import json
import sys


def sha256(lines):
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()


rows = json.load(sys.stdin)
holds = {}
for r in rows["reservations"]:
    held = {one["unit"]: one["amount"] for one in r["held"]}
    for account, unit in zip(r["accounts"], r["units"]):
        holds.setdefault(account, []).append(f"{r['id']}={unit}={held[unit]}")
digests = {}
for a in rows["accounts"]:
    line = "|".join([a["account"], a["unit"], a["available"], a["held"], a["used"], a["funded"]])
    of_account = sorted(holds.get(a["account"], []), key=str.encode)
    digests[a["account"]] = sha256(["holdfast-account-digest-v1", line, *of_account])
head = rows["head"]
in_order = [f"{name} {digests[name]}" for name in sorted(digests, key=str.encode)]
place = f"{head['partition']}|{head['position']}|{head['hash']}"
print(sha256(["holdfast-partition-digest-v1", place, *in_order]))
for line in in_order:
    print(line)
