"""Recomputes a partition's hash chain, by docs/EVENTS.md alone: Holdfast's own code is not used.

Reads from standard input, from position 1 on, one event a line: the values of the partition's messages on Kafka, or
rows of the journal as `body<TAB>hash` (hash in hex). Prints how far the chain holds; exit 1 where it breaks.

    python3 verify_chain.py LEDGER PARTITION < lines
"""
import hashlib
import sys


def first_break(ledger, partition, lines):
    prev = hashlib.sha256(f"holdfast:{ledger}:{partition}".encode()).digest()
    for position, line in enumerate(lines, 1):
        if b"\t" in line:
            body, said = line.split(b"\t")
        else:
            body, suffix = line[:-153] + b"}", line[-153:]
            said = suffix[87:151]
            if suffix != b',"prevhash":"%s","hash":"%s"}' % (prev.hex().encode(), said):
                return position
        prev = hashlib.sha256(prev + body).digest()
        if prev.hex().encode() != said:
            return position
    return None


ledger, partition = sys.argv[1:3]
lines = sys.stdin.buffer.read().splitlines()
broken = first_break(ledger, partition, lines)
print(f"{len(lines)} events, the chain holds" if broken is None else f"the chain breaks at position {broken}")
sys.exit(0 if broken is None else 1)
