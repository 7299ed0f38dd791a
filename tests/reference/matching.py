"""Pairs rows of the reference with ours, and counts equal cells.

A cell counts when either side has a value: where both have none there is
nothing to agree on.  None and "" are no value.  A field that the reference
does not give for a row at all (no such key in it) is not compared.
"""
import collections

import numpy

SHOWN = 3  # differences kept of each field
GREEDY = 64  # rows of one key that are paired by likeness; more are paired in order


def value(cell):
    return None if cell is None or cell == "" else cell


def printed_single(number):
    """Whether the reference printed a number of single precision: its shortest text is the whole number."""
    return float(str(numpy.float32(number))) == float(number)


def same_number(expected, ours):
    if isinstance(expected, int) and isinstance(ours, int):
        return expected == ours
    if abs(expected - ours) <= 1e-9 * abs(expected):
        return True
    return printed_single(expected) and numpy.float32(expected) == numpy.float32(ours)


def same(expected, ours):
    expected, ours = value(expected), value(ours)
    if expected is None or ours is None:
        return expected is ours
    if isinstance(expected, bool) or isinstance(ours, bool) or isinstance(expected, str) or isinstance(ours, str):
        return type(expected) is type(ours) and expected == ours
    return same_number(expected, ours)


class Field:
    def __init__(self):
        self.compared = self.equal = 0
        self.differences = []  # (profile, row, expected, ours)

    def count(self, equal, where=None):
        self.compared += 1
        self.equal += bool(equal)
        if not equal and len(self.differences) < SHOWN:
            self.differences.append(where)


class Tally:
    """What is known of one table over all profiles."""

    def __init__(self):
        self.rows = self.missing = self.extra = self.allowed = 0
        self.fields = collections.OrderedDict()
        self.notes = []
        self.unpaired = []  # (profile, "missing" or "extra", row)

    def field(self, name):
        return self.fields.setdefault(name, Field())

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)


def likeness(expected, ours, fields):
    return sum(same(expected.get(f), ours.get(f)) for f in fields)


def pair_bucket(expected, ours, fields):
    """Rows of one key: each of the reference with the most alike of ours."""
    if len(expected) == len(ours) == 1:
        return [(expected[0], ours[0])]
    if len(expected) > GREEDY or len(ours) > GREEDY:
        in_order = lambda row: [str(row.get(f)) for f in fields]
        return list(zip(sorted(expected, key=in_order), sorted(ours, key=in_order)))
    pairs, left = [], list(ours)
    for row in expected:
        if not left:
            break
        best = max(range(len(left)), key=lambda i: likeness(row, left[i], fields))
        pairs.append((row, left.pop(best)))
    return pairs


def align(expected, ours, key, fields):
    """([(expected row, our row)], [missing rows], [extra rows])"""
    of_key = lambda row: tuple(value(row.get(k)) for k in key)
    buckets = collections.defaultdict(lambda: ([], []))
    for row in expected:
        buckets[of_key(row)][0].append(row)
    for row in ours:
        buckets[of_key(row)][1].append(row)
    pairs, missing, extra = [], [], []
    for theirs, mine in buckets.values():
        found = pair_bucket(theirs, mine, fields) if theirs and mine else []
        pairs += found
        used_theirs, used_mine = {id(e) for e, _ in found}, {id(o) for _, o in found}
        missing += [row for row in theirs if id(row) not in used_theirs]
        extra += [row for row in mine if id(row) not in used_mine]
    return pairs, missing, extra


def describe(row, key):
    return " ".join("%s=%s" % (k, row.get(k)) for k in key)


def count_cells(tally, profile, key, field, pairs, missing):
    for expected, ours in pairs:
        e, o = value(expected.get(field)), value(ours.get(field))
        if field in expected and (e is not None or o is not None):
            tally.field(field).count(same(e, o), (profile, describe(expected, key), e, o))
    for row in missing:
        if value(row.get(field)) is not None:
            tally.field(field).count(False, (profile, describe(row, key), row[field], "no row"))


def count_relation(tally, profile, key, field, pairs, missing):
    """Identifiers: equal when they put the same rows together, whatever they are called."""
    theirs, mine = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for expected, ours in pairs:
        theirs[expected.get(field)][ours.get(field)] += 1
        mine[ours.get(field)][expected.get(field)] += 1
    usual = lambda counter: counter.most_common(1)[0][0]
    for expected, ours in pairs:
        e, o = expected.get(field), ours.get(field)
        agree = o is not None and usual(theirs[e]) == o and usual(mine[o]) == e
        tally.field(field).count(agree, (profile, describe(expected, key), "group %s" % e, "group %s" % o))
    for row in missing:
        tally.field(field).count(False, (profile, describe(row, key), row.get(field), "no row"))


def compare_rows(tally, profile, expected, ours, key, fields, relations=(), allow=None):
    """Adds one profile's rows of one table.  allow(row): an extra row of ours that is no error."""
    pairs, missing, extra = align(expected, ours, key, fields)
    allowed = [row for row in extra if allow and allow(row)]
    tally.rows += len(expected)
    tally.missing += len(missing)
    tally.extra += len(extra) - len(allowed)
    tally.allowed += len(allowed)
    for kind, rows in (("missing", missing), ("extra", [row for row in extra if row not in allowed])):
        tally.unpaired += [(profile, kind, describe(row, key)) for row in rows[:SHOWN]]
    for field in key:
        count_cells(tally, profile, key, field, pairs, missing)
    for field in fields:
        count_cells(tally, profile, key, field, pairs, missing)
    for field in relations:
        count_relation(tally, profile, key, field, pairs, missing)
    return pairs
