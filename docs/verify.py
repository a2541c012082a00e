#!/usr/bin/env python3
"""Verifies the decisions of a Gatehouse project against its log: a second verifier, written from docs/proof.md alone.

Needs Python 3.9 and, for Ed25519, the openssl command (3.0). It reads a state file and never writes one.
Exit code: 0 holds, 10 altered, 11 missing, 12 added, 13 history rewritten, 14 signature invalid, 1 could not run."""
import argparse
import base64
import bisect
import datetime
import functools
import hashlib
import itertools
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from array import array

WIDTH, HASH, LEAF, NODE = 256, 32, b"\0", b"\1"  # hashes in a full tile, bytes in a hash, what is hashed before leaf and node
SETTLE_MS, AHEAD_MS = 10_000, 600_000  # a record enters the log within this time; how far clocks may differ
DAY_MS, RETENTION_MS, GRACE_MS = 86_400_000, 90 * 86_400_000, 7 * 86_400_000
EXIT_CODES = {"altered": 10, "missing": 11, "added": 12, "history_rewritten": 13, "signature_invalid": 14}
TIME = rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"
LINE = re.compile(rb'\{"event_id":"([0-9a-f-]{36})","occurred_at":"' + TIME + rb'".*,"received_at":"' + TIME + rb'"\}', re.S)
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")  # the DER encoding of an Ed25519 public key, up to its bytes


class Broken(Exception):
    """A verdict, and what shows it: nothing further can be checked."""


def sha256(data):
    return hashlib.sha256(data).digest()


def milliseconds(text):
    return round(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1000)


def from_base64(text, length=None, is_url=False):
    """Decodes standard base64, or base64url without padding, in its only spelling."""
    padded, more = (text + "=" * (-len(text) % 4), b"-_") if is_url else (text, b"+/")
    data = base64.b64decode(padded, more, validate=True)
    if base64.b64encode(data, more).decode() != padded or length not in (None, len(data)) or is_url and "=" in text:
        raise ValueError(f"{text} is not base64 of the right length")
    return data


def ed25519_holds(public_key, message, signature):
    """Asks openssl, which reads its input from files."""
    with tempfile.TemporaryDirectory() as directory:
        for name, data in (("key", SPKI_PREFIX + public_key), ("message", message), ("signature", signature)):
            pathlib.Path(directory, name).write_bytes(data)
        command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in message -sigfile signature"
        return subprocess.run(command.split(), cwd=directory, capture_output=True, check=False).returncode == 0


def parse_vkey(text):
    """Returns the name, the key id and the public key of a log."""
    name, key_id, material = text.strip().split("+", 2)
    data = from_base64(material, 33)
    if data[0] != 1 or sha256(name.encode() + b"\n" + data)[:4].hex() != key_id:
        raise ValueError("The vkey is not an Ed25519 key of a log, or its key id is another key's")
    return name, bytes.fromhex(key_id), data[1:]


def verify_checkpoint(note, vkey, origin):
    """Returns size and root of a checkpoint that the log signed."""
    name, key_id, public_key = vkey
    try:
        body, _, signatures = note.decode().rpartition("\n\n")
        body, lines = body + "\n", body.split("\n")
        is_note = signatures.endswith("\n") and "" not in lines and not re.search(rb"[\0-\x09\x0b-\x1f]", note)
        if not is_note or len(lines) < 3 or not re.fullmatch("0|[1-9][0-9]*", lines[1]):
            raise ValueError("it is not a signed checkpoint")
        size, root, own = int(lines[1]), from_base64(lines[2], HASH), []
        if name != origin or lines[0] != origin:
            raise ValueError(f"it is of {lines[0]}, its key of {name}, not of {origin}")
        for line in signatures[:-1].split("\n"):
            dash, signer, encoded = line.split(" ")
            data = from_base64(encoded)
            if dash != "—" or len(data) < 5 or not re.fullmatch(r"[^\s+\x7f-\x9f]+", signer):
                raise ValueError("a signature line is malformed")
            own += [data[4:]] * (signer == name and data[:4] == key_id)
        if not own or not all(ed25519_holds(public_key, body.encode(), signature) for signature in own):
            raise ValueError("it has no signature of the log key that holds")
    except ValueError as error:
        raise Broken("signature_invalid", f"the checkpoint does not hold: {error}") from error
    return size, root


class Log:
    """The tiles of a mirrored directory."""
    def __init__(self, directory):
        self.tiles, self.size = directory / "tile", 0
        self.leaves_of = functools.lru_cache(maxsize=512)(lambda number: self.tile(0, number))

    def width(self, level, number):
        return max(0, min(WIDTH, self.size // WIDTH**level - number * WIDTH))

    def read(self, kind, number, width, item_bytes):
        """The bytes of a partial or full tile or bundle, of so many items; None if there is no such file."""
        groups = split(f"{number:0{math.ceil(len(str(number)) / 3) * 3}}", 3)
        name = "/".join([str(kind), *("x" + group for group in groups[:-1]), groups[-1]])
        for count, path in ((width, self.tiles / f"{name}.p/{width}"), (WIDTH, self.tiles / name)):
            if path.exists():
                data = path.read_bytes()
                if len(data) != count * item_bytes:
                    raise Broken("history_rewritten", f"{path} has {len(data)} bytes")
                return data[: width * item_bytes]
        return None

    def tile(self, level, number):
        data = self.read(level, number, self.width(level, number), HASH)
        if data is None:
            raise Broken("history_rewritten", f"tile {number} of level {level} is absent")
        return data

    def leaf(self, index):
        return self.leaves_of(index // WIDTH)[index % WIDTH * HASH :][:HASH]

    def check_entries(self, number, tile):
        items = split(self.read("entries", number, self.width(0, number), HASH + 2) or b"", HASH + 2)
        if items and b"".join(sha256(LEAF + item[2:]) for item in items if item[:2] == b"\0\x20") != tile:
            raise Broken("history_rewritten", f"entry bundle {number} does not hash to its leaves")

    def verify(self, root, earlier_size, wanted):
        """Checks all tiles. Returns the root of the first leaves, and which of the wanted leaf hashes are in the log."""
        roots, rest, earlier_rest, found = [], [], [], set()
        for number in range(math.ceil(self.size / WIDTH)):
            tile = self.tile(0, number)
            self.check_entries(number, tile)
            hashes = split(tile)
            found |= wanted.intersection(hashes)
            if number == earlier_size // WIDTH:
                earlier_rest = hashes[: earlier_size % WIDTH]
            if len(hashes) == WIDTH:
                roots.append(root_of(peaks(hashes)))
            else:
                rest = hashes
        if root_of(peaks(roots) + peaks(rest)) != root:
            raise Broken("history_rewritten", "the leaves do not add up to the root of the checkpoint")
        level, tiles = 1, split(roots, WIDTH)
        while tiles:
            if any(self.tile(level, number) != b"".join(tile) for number, tile in enumerate(tiles)):
                raise Broken("history_rewritten", f"a tile of level {level} is not that of its leaves")
            level, tiles = level + 1, split([root_of(peaks(tile)) for tile in tiles if len(tile) == WIDTH], WIDTH)
        return root_of(peaks(roots[: earlier_size // WIDTH]) + peaks(earlier_rest)), found


def split(data, length=HASH):
    return [data[at : at + length] for at in range(0, len(data), length)]


def peaks(hashes):
    """The roots of the largest complete subtrees over hashes, from left to right."""
    stack = []
    for node in hashes:
        height = 0
        while stack and stack[-1][0] == height:
            node, height = sha256(NODE + stack.pop()[1] + node), height + 1
        stack.append((height, node))
    return [node for _, node in stack]


def root_of(nodes):
    return functools.reduce(lambda root, left: sha256(NODE + left + root), reversed(nodes)) if nodes else sha256(b"")


def fields_of(line):
    """Returns event_id, occurred_at and received_at in ms, which stand at fixed places; without an id where they do not."""
    try:
        event_id, occurred, received = (part.decode() for part in LINE.fullmatch(line).groups())
        return event_id, milliseconds(occurred), milliseconds(received)
    except (AttributeError, ValueError):
        return "", math.inf, math.inf


def parse_proof(line):
    proof = json.loads(line) if line else {"event_id": "", "index": None, "salt": ""}
    index, is_text = proof["index"], isinstance(proof["event_id"], str) and isinstance(proof["salt"], str)
    if not is_text or index is not None and (type(index) not in (int, float) or not 0 <= index < 2**53 or index % 1):
        raise ValueError(f"the proofs have a line without event_id, index and salt: {line[:200]}")
    return {**proof, "index": index if index is None else int(index)}


def joined(export_path, proofs_path):
    """Yields each record's line with its proof, or None. Both files have one order, so few lines wait for the other file."""
    lines, proofs = {}, {}
    with export_path.open("rb") as export, proofs_path.open("rb") as proof_lines:
        for line, proof_line in itertools.zip_longest(export, proof_lines, fillvalue=b""):
            line, proof = line.rstrip(b"\n"), parse_proof(proof_line.rstrip(b"\n").decode())
            line_id = fields_of(line)[0]
            if line:
                lines.setdefault(line_id, []).append(line)
            if proof["event_id"]:
                proofs.setdefault(proof["event_id"], []).append(proof)
            for event_id in {line_id, proof["event_id"]}:
                if event_id in lines and event_id in proofs:
                    yield lines[event_id].pop(0), proofs[event_id].pop(0)
                    for waiting in (lines, proofs):
                        if not waiting[event_id]:
                            del waiting[event_id]
    for line in itertools.chain(*lines.values()):
        yield line, None


class Audit:
    """Counts what holds and what does not."""
    def __init__(self, log, at, state):
        self.log, self.at, self.state = log, at, state
        self.counts, self.problems = dict.fromkeys(("checked", "altered", "missing", "added", "too_new", "expired"), 0), {}
        # held: when the record that holds an index was received; 0: none, -1: an altered record names it
        self.oldest, self.newest, self.held = math.inf, -math.inf, array("d")

    def say(self, kind, text, count=0):
        self.problems.setdefault(kind, []).append(ascii(text)[1:-1])
        if count:
            self.counts[kind] += count

    def is_too_new(self, received):
        return max(self.at, self.newest) - SETTLE_MS <= received <= datetime.datetime.now().timestamp() * 1000 + AHEAD_MS

    def records(self, export_path, proofs_path, size_before):
        unplaced, self.held = [], array("d", bytes(8 * self.log.size))
        for line, proof in joined(export_path, proofs_path):
            self.counts["checked"] += 1
            event_id, occurred, received = fields_of(line)
            index = None if proof is None else proof["index"]
            is_salt = proof is not None and re.fullmatch("[A-Za-z0-9+/]{21}[AQgw]==", proof["salt"])  # of 16 bytes
            if is_salt and index is not None and index < self.log.size and not self.held[index]:
                if sha256(LEAF + sha256(base64.b64decode(proof["salt"]) + line)) == self.log.leaf(index):
                    self.held[index] = received
                    self.oldest, self.newest = min(self.oldest, occurred), max(self.newest, received)
                    continue
            unplaced.append((received, event_id, occurred, index))
        old = [index + 1 for index, received in enumerate(self.held) if 0 < received < self.at - DAY_MS]
        self.new_from = max([size_before, *old])  # what is free from here on may be younger than the export
        self.place(sorted(unplaced, key=lambda one: one[:2]))

    def place(self, unplaced):
        inside = [one for one in unplaced if one[3] is not None and one[3] < self.log.size]
        for received, event_id, _, index in inside:
            if self.held[index] > 0:
                self.say("added", f"record {event_id} names the index {index}, which another record holds", 1)
            else:
                self.held[index] = -1
                self.say("altered", f"record {event_id} is not what entered the log at index {index}", 1)
        rest = [one for one in unplaced if one[3] is None and one[1]]
        used = [False] * len(rest)
        for start, end, before, after in self.gaps():
            fitting = range(bisect.bisect_left(rest, (before,)), bisect.bisect_left(rest, (after + 1,)))
            for index, place in zip(range(start, end), (place for place in fitting if not used[place])):
                used[place], self.held[index] = True, -1
                self.say("altered", f"record {rest[place][1]} is not what entered the log near index {index}", 1)
        unreadable = sum(not one[1] for one in unplaced)
        for index in [index for index, received in enumerate(self.held) if not received][:unreadable]:
            self.held[index] = -1
        for _ in range(unreadable):
            self.say("altered", "a line of the export is not that of a record", 1)
        alive = [one for one, is_used in zip(rest, used) if not is_used and one[2] >= self.at - RETENTION_MS]
        for received, event_id, _, _ in alive + [one for one in unplaced if one[3] is not None and one[3] >= self.log.size]:
            if self.is_too_new(received):
                self.counts["too_new"] += 1
            else:
                self.say("added", f"record {event_id} is not in the log", 1)
        self.counts["too_new"] += self.held[self.new_from:].count(0)

    def gaps(self):
        """Each run of indexes that nothing holds: from, to (exclusive), and when its nearest neighbours were received."""
        gaps, waiting, before = [], [], -math.inf
        for index, received in enumerate(self.held):
            is_free = received == 0 and index < self.new_from
            if is_free and waiting and waiting[-1][1] == index:
                waiting[-1][1] += 1
            elif is_free:
                waiting.append([index, index + 1, before])
            elif received > 0:
                gaps += [(*gap, received) for gap in waiting]
                waiting, before = [], received
        return gaps + [(*gap, math.inf) for gap in waiting]

    def judge_gaps(self):
        oldest_alive = min(self.at - RETENTION_MS, self.oldest)
        seen = [(milliseconds(moment), size) for moment, size in self.state["seen"]]
        late = [(a, b, milliseconds(f"{day}T00:00:00Z")) for a, b, day in self.state["late"]]
        for start, end, before, after in self.gaps():
            missing = []
            for index in range(start, end):
                neighbours = max([before, after] + [moment for moment, size in seen if size <= index])
                bound = min([neighbours] + [moment for moment, size in seen if size > index])
                is_early = any(a <= index <= b and gone <= oldest_alive for a, b, gone in late)
                missing += [index] * (bound > oldest_alive + GRACE_MS and not is_early)
            self.counts["expired"] += end - start - len(missing)
            if missing:
                self.say("missing", f"no record holds the indexes {missing[0]} to {missing[-1]} ({len(missing)})", len(missing))


def read_receipts(path, project_id, directory):
    """Returns the receipts of the project: event_id, leaf hash, iat in ms, and whether the signature holds."""
    keys, receipts, path_of_keys = None, [], directory / "keys.json"
    if path_of_keys.exists():
        keys = {key["kid"]: from_base64(key["x"], HASH, is_url=True) for key in json.loads(path_of_keys.read_bytes())["keys"]}
    for line in filter(None, map(str.strip, path.read_bytes().decode().split("\n"))):
        head, body, signature = (from_base64(part, is_url=True) for part in line.split("."))
        header, payload, signed = {**json.loads(head)}, {**json.loads(body)}, line.rpartition(".")[0].encode()
        if payload["sub"] == project_id:
            key = (keys or {}).get(header.get("kid"))
            is_signed = keys is None or key is not None and ed25519_holds(key, signed, signature)
            leaf = sha256(LEAF + from_base64(payload["entry"], HASH, is_url=True))
            is_receipt = (header.get("alg"), header.get("typ"), payload.get("iss")) == ("EdDSA", "gate-receipt+jwt", "gatehouse")
            receipts.append((payload.get("jti"), leaf, round(payload["iat"]) * 1000, is_receipt and is_signed))
    return receipts


def judge_receipts(audit, receipts, found):
    counts = {"checked": len(receipts), "missing": 0, "too_new": 0, "invalid": 0}
    for event_id, leaf, issued, holds in receipts:
        if not holds:
            counts["invalid"] += 1
            audit.say("signature_invalid", f"the receipt of {event_id} is not signed by a root key")
        elif leaf not in found and audit.is_too_new(issued):
            counts["too_new"] += 1
        elif leaf not in found:
            counts["missing"] += 1
            audit.say("missing", f"the entry of the receipt of {event_id} is not in the log")
    return counts


def verify(options):
    has_state = options.state is not None and options.state.exists()
    state = json.loads(options.state.read_bytes()) if has_state else {"format": 1, "vkey": None, "seen": [], "late": []}
    if state["format"] != 1:
        raise ValueError("The state file is not one of this version")
    at = milliseconds(options.at) if options.at else int(options.export.stat().st_mtime * 1000)
    vkey = state["vkey"] if options.vkey is None else options.vkey
    key = parse_vkey((options.log / "vkey").read_bytes().decode() if vkey is None else vkey)
    audit, receipts = Audit(Log(options.log), at, state), None
    try:
        receipts = check_all(options, audit, key)
    except Broken as broken:
        audit.say(*broken.args)
    pinned = ["log key"] * (vkey is not None) + ["history"] * has_state
    verdicts = [kind for kind in EXIT_CODES if kind in audit.problems]
    return {
        "project_id": options.project,
        "verdict": verdicts[-1] if verdicts else "holds",
        "exit_code": EXIT_CODES[verdicts[-1]] if verdicts else 0,
        "verdicts": verdicts,
        "tree_size": audit.log.size,
        **audit.counts,
        "receipts": receipts,
        "pinned": pinned,
        "trusted_on_first_use": [one for one in ("log key", "history") + ("root keys",) * bool(options.receipts) if one not in pinned],
        "problems": [f"{kind}: {text}" for kind in verdicts for text in audit.problems[kind][:20]],
    }


def check_all(options, audit, key):
    """Steps 1 to 6 of docs/proof.md. Returns the counts of the receipts."""
    log, state, origin = audit.log, audit.state, f"gatehouse/{options.project}"
    log.size, root = verify_checkpoint((options.log / "checkpoint").read_bytes(), key, origin)
    receipts = read_receipts(options.receipts, options.project, options.log) if options.receipts else None
    path, before = options.log / "checkpoint.before", (log.size, root)
    seen_size, seen_root = before = verify_checkpoint(path.read_bytes(), key, origin) if path.exists() else before
    if state["vkey"] is not None:
        try:
            seen_size, seen_root = verify_checkpoint(state["checkpoint"].encode(), parse_vkey(state["vkey"]), origin)
        except Broken as broken:
            audit.say("history_rewritten", f"in the state, {broken.args[1]}")
    earlier_root, found = log.verify(root, seen_size, {leaf for _, leaf, _, _ in receipts or []})
    if seen_size > log.size or earlier_root != seen_root:
        audit.say("history_rewritten", f"it has {log.size} entries, and not the {seen_size} first that were seen before")
    audit.records(options.export, options.proofs, max(before[0], seen_size))
    audit.judge_gaps()
    return None if receipts is None else judge_receipts(audit, receipts, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    for name in ("project", "export", "proofs", "log", "vkey", "state", "receipts", "at"):
        parser.add_argument(f"--{name}", type=str if name in ("project", "vkey", "at") else pathlib.Path,
                            required=name in ("project", "export", "proofs", "log"))
    parser.add_argument("--json", action="store_true")
    parser.error = sys.exit
    try:
        result = verify(parser.parse_args())
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"could not run, as a file or an option is absent or malformed: {error!a}")
    texts = [f"{key:<21} {', '.join(value) if isinstance(value, list) else value}" for key, value in result.items()]
    print(json.dumps(result) if "--json" in sys.argv else "\n".join(texts))
    sys.exit(result["exit_code"])


if __name__ == "__main__":
    main()
