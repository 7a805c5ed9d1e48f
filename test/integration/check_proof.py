"""Checks a proof of `holdfast audit proof` by docs/CHECKPOINTS.md and the verifier key alone: python3 check_proof.py KEY < proof"""
import base64
import hashlib
import json
import sys

name, key_id, encoded = sys.argv[1].split("+", 2)
segment, note = sys.stdin.buffer.read().split(b"\n\n", 1)
head, *events = segment.split(b"\n")
text, signatures = note.rsplit(b"\n\n", 1)[0] + b"\n", note.decode().rsplit("\n\n", 1)[1].splitlines()
said, lines = json.loads(head), text.decode().splitlines()

# The chain: each value is the body with both hashes; the last one must have the hash that was signed.
prev = events[0][-153:][13:77].decode()
for number, value in enumerate(events, said["position"]):
    body = value[:-153] + b"}"
    digest = hashlib.sha256(bytes.fromhex(prev) + body).hexdigest()
    assert value[-153:] == b',"prevhash":"%s","hash":"%s"}' % (prev.encode(), digest.encode()), f"broken at {number}"
    assert json.loads(body)["position"] == str(number), f"position {number} is another"
    prev = digest
assert json.loads(events[0][:-153] + b"}")["id"] == said["event"], "another event"
assert lines[0] == "holdfast/" + said["event"].rsplit(".", 2)[0], "a checkpoint of another ledger"
assert lines[5 + said["partition"]] == f"{said['partition']} {number} {prev}", "not what was signed"

# The signature.
signature = next(base64.b64decode(s.split(" ")[2]) for s in signatures if s.startswith(f"\u2014 {name} "))
assert signature[:4].hex() == key_id, "signed by another key"
try:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
except ImportError:
    print(f"the chain holds over {len(events)} events; the signature was NOT checked: no package `cryptography`")
else:
    Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded)[1:]).verify(signature[4:], text)
    print(f"the chain holds over {len(events)} events, and the signature is right")
