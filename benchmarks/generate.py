"""Make a realistic OKF bundle of N concepts, the same bytes for the same (N, seed).

    python benchmarks/generate.py 10000 OUT              a new bundle
    python benchmarks/generate.py 10000 OUT --edit 0.01  change 1 % of its files in place
    python benchmarks/generate.py 10000 OUT --restore    undo every edit

Each file depends on nothing but (N, seed, its number), so an edited file can be made anew without the others.
Standard library only.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

VERSION = 1
"""Raised whenever the bytes of a bundle change, so that kept bundles of an older generator are not reused."""

DEFAULT_SEED = 7
STAMP = ".okf-bench.json"
"""Hidden file at the root of a bundle: {"generator", "concepts", "seed", "edited": [paths]}. Written last."""

FILES_PER_DIRECTORY = (30, 60)
BODY_WORDS = 312
"""Running words of an average body; with headings, links and code that comes to about 2.2 KB."""
SHORTEST_BODY_WORDS = 45
"""Links, identifiers and the like take the places of words: of 27 at most."""
ZIPF_KNEE = 1450
"""Rank at which the exponent of Zipf's law goes from 1 to 2.

Two regimes are what large collections of text show, and give a vocabulary that grows with the square root of
the text. The knee is set for about 41,000 terms at 10,000 concepts and 130,000 at 100,000.
"""

MALFORMED_KINDS = (
    "no-fence",
    "unclosed",
    "bad-colon",
    "tab-indent",
    "not-utf8",
    "list",
    "alias",
    "duplicate-key",
    "empty",
)
"""One file in a hundred is of these kinds, each in turn. Most loaders take `alias` and `duplicate-key`."""
MALFORMED_AT = 50
CRLF_AT = 23
"""Places within each hundred files. Fixed places give exact shares, and every kind once in 900 files."""

NON_ASCII_SHARE = 0.6
FENCED_SHARE = 1 / 3
BROKEN_LINK_SHARE = 0.03


def listed(text: str) -> list[str]:
    """The words of a text."""
    return text.split()


COMMON_WORDS = listed(
    """
    the of and to in a is for that with on as by order from are be this customer it or at an not data when
    which table each if can has was all event will only one must their more payment may have value date its
    user than after before between query then row field into other these source status used same error product
    account report per team metric where no should time new first last number any name change since
    total until list day check type record also invoice price amount following system month load version daily
    revenue below above every refund item key job service stock count default example quarter latest cost
    pipeline schema column warehouse refresh retention shipping region owner update delete contract margin
    session partition filter currency discount batch window dashboard review incident backfill forecast alert
    campaign supplier delivery deduplication latency threshold rollback churn cohort inventory subscription
    ledger audit snapshot segment checkout return policy access request response token storage index cluster
    replica queue retry timeout budget release deploy feature test staging production
    """
)
FUNCTION_WORDS = frozenset(
    listed(
        """
        the of and to in a is for that with on as by from are be this it or at an not when which each if can
        has was all will only one must their more may have its than after before between then into other these
        used same per where no should time new first last any since until also following below above every
        latest
        """
    )
)
SUBJECT_WORDS = [word for word in COMMON_WORDS if word not in FUNCTION_WORDS]
"""What names, tags and directories are made of."""

ONSETS = listed("b br c ch d dr f fl h j l m n p pl pr qu r s st t th tr v w")
VOWELS = listed("a e i o ai ea ou")
CODAS = ["", "n", "r", "s", "l", "t", "m", "nd", "st"]
SYLLABLES = [onset + vowel for vowel in VOWELS for onset in ONSETS]
"""Consonants and then vowels, so that a word is read back in one way only: no two ranks share a word."""
SHORT_RANKS = 20_000
"""Made-up words below this rank have two syllables, the others three: frequent words are short."""

NON_ASCII = listed(
    "Straße Zürich Größe Maßnahme Übersicht café naïve résumé façade señal São Kraków Malmö Ærø Đà ÎLE "
    "顧客 注文 数据 データ 고객 ✅ 🚀 ⚠️ → — €"
)
ASCII_VARIANTS = ("STRASSE", "Strasse", "Zurich", "cafe")

STEMS = listed(
    "customer order invoice payment user account session product shipment refund event batch region store "
    "campaign vendor ticket device plan item"
)
SUFFIXES = listed("id key at date total count status type name code amount rate flag hash")

TYPES = (
    ("BigQuery Table", 30),
    ("Reference", 18),
    ("Metric", 15),
    ("Playbook", 10),
    ("API Endpoint", 8),
    ("Policy", 6),
    ("Runbook", 5),
    ("Dataset", 4),
    ("Decision", 3),
    ("Glossary Term", 1),
)
HEADINGS = (
    "Definition",
    "Schema",
    "Common queries",
    "How it is computed",
    "Caveats",
    "Trust and freshness",
    "History",
    "Owners",
    "Examples",
    "Related",
)
STATUSES = ("stable", "draft", "deprecated")
AGENTS = ("catalog_agent/3.1", "reference_agent/flash-2.5", "doc-writer/1.8.0", "process:nightly-import")
CADENCES = ("hourly", "daily", "weekly", "monthly", "quarterly")
REGIONS = ("eu-west", "us-east", "apac", "emea", "global")


@cache
def word_space(syllables: int) -> tuple[int, int]:
    """How many words of so many syllables there are, and the step with which `made_up_word` visits them."""
    size = len(SYLLABLES) ** syllables * len(CODAS)
    # Golden-ratio steps spread neighbouring ranks over the alphabet; a step prime to `size` repeats nothing.
    step = int(size * 0.618)
    while math.gcd(step, size) != 1:
        step += 1
    return size, step


def made_up_word(rank: int) -> str:
    """A pronounceable lower-case word; another for every rank from 0 to about 50 million."""
    syllables = 2 if rank < SHORT_RANKS else 3
    size, step = word_space(syllables)
    rest, coda = divmod(rank * step % size, len(CODAS))
    word = CODAS[coda]
    for _ in range(syllables):
        rest, syllable = divmod(rest, len(SYLLABLES))
        word = SYLLABLES[syllable] + word
    return word


def word_of_rank(rank: int) -> str:
    """The word of a Zipf rank (0 is the most frequent): the real English words first, then made-up ones."""
    return COMMON_WORDS[rank] if rank < len(COMMON_WORDS) else made_up_word(rank)


def name_word(rank: int) -> str:
    """As `word_of_rank`, without the function words: for names of files and directories."""
    return SUBJECT_WORDS[rank] if rank < len(SUBJECT_WORDS) else made_up_word(rank)


def chance(rng: Random, share: float) -> bool:
    """True in this share (0 to 1) of the calls."""
    return rng.random() < share


class Concept(NamedTuple):
    """One file of a bundle: its bytes, and what an index says of it."""

    data: bytes
    title: str
    description: str


class SourceEntry(NamedTuple):
    """One entry of `sources`, before it is written as YAML."""

    id: str
    title: str
    resource: str
    author: str
    usage_count: int | None
    last_modified: str


@dataclass(frozen=True)
class Directory:
    """A leaf directory: its path parts, and the numbers of its first file and of the file after its last."""

    top: str
    name: str
    start: int
    stop: int


class Corpus:
    """The plan of a bundle of `n` concepts; `concept(i)` gives the bytes of file number i (0 to n - 1)."""

    def __init__(self, n: int, seed: int = DEFAULT_SEED) -> None:
        self.n = n
        self.seed = seed
        rng = Random(f"{VERSION}:{n}:{seed}:plan")
        self.directories = self._plan_directories(rng)
        self.names = self._plan_names(rng)
        self.starts = [directory.start for directory in self.directories]
        self.people = [f"{made_up_word(rank)}.{made_up_word(rank + 7000)}" for rank in range(200)]
        self.tags = SUBJECT_WORDS + [made_up_word(rank) for rank in range(min(1500, n // 10))]
        self.tag_weights = list(accumulate(1 / rank for rank in range(1, len(self.tags) + 1)))

    def _plan_directories(self, rng: Random) -> list[Directory]:
        sizes: list[int] = []
        left = self.n
        while left > 0:
            sizes.append(min(left, rng.randint(*FILES_PER_DIRECTORY)))
            left -= sizes[-1]
        tops = max(1, round(math.sqrt(len(sizes))))
        per_top = math.ceil(len(sizes) / tops)
        directories: list[Directory] = []
        start = 0
        for number, size in enumerate(sizes):
            top = name_word(number // per_top)
            name = f"{made_up_word(400 + number)}_{SUBJECT_WORDS[number % 90]}"
            directories.append(Directory(top, name, start, start + size))
            start += size
        return directories

    def _plan_names(self, rng: Random) -> list[str]:
        """File names without `.md`: two or three words, no counters (a counter would be a term per file)."""
        names: list[str] = []
        for directory in self.directories:
            taken: set[str] = set()
            for _ in range(directory.start, directory.stop):
                separator = "_" if chance(rng, 0.3) else "-"
                slug = separator.join([self._name_word(rng), self._name_word(rng)])
                while slug in taken or chance(rng, 0.3):
                    slug += separator + self._name_word(rng)
                taken.add(slug)
                names.append(slug)
        return names

    def _name_word(self, rng: Random) -> str:
        return name_word(int(2 * 5000 ** rng.random()))

    @cached_property
    def _vocabulary(self) -> tuple[list[str], list[float]]:
        """Words by rank and their cumulative weights; so many that those left out would be rare."""
        ranks = 20_000 + int(1800 * math.sqrt(self.n))
        words = [word_of_rank(rank) for rank in range(ranks)]
        weights = (1 / rank if rank <= ZIPF_KNEE else ZIPF_KNEE / rank**2 for rank in range(1, ranks + 1))
        return words, list(accumulate(weights))

    def directory_of(self, i: int) -> Directory:
        """The directory that holds file number `i`."""
        return self.directories[bisect_right(self.starts, i) - 1]

    def path(self, i: int) -> str:
        """Path of file number `i` below the root, with `/`."""
        directory = self.directory_of(i)
        return f"{directory.top}/{directory.name}/{self.names[i]}.md"

    def malformed_kind(self, i: int) -> str | None:
        """What is wrong with file number `i`, if anything."""
        if i % 100 != MALFORMED_AT:
            return None
        return MALFORMED_KINDS[i // 100 % len(MALFORMED_KINDS)]

    def is_crlf(self, i: int) -> bool:
        """Whether the lines of file number `i` end in CR LF."""
        return i % 100 == CRLF_AT

    def concept(self, i: int) -> Concept:
        """File number `i`, a pure function of (n, seed, i)."""
        rng = Random(f"{VERSION}:{self.n}:{self.seed}:{i}")
        title = re.split(r"[-_]", self.names[i])
        shown_title = " ".join(word.capitalize() for word in title)
        if chance(rng, 0.02):
            shown_title += " Zürich"
        description = self._sentence_words(rng, 7, 14)
        sources = self._sources(rng)
        frontmatter = self._frontmatter(rng, i, shown_title, description, sources)
        body = self._body(rng, i, sources)
        kind = self.malformed_kind(i)
        data = spoil(kind, frontmatter, body) if kind else f"---\n{frontmatter}---\n\n{body}".encode()
        if self.is_crlf(i):
            data = data.replace(b"\n", b"\r\n")
        return Concept(data, shown_title, description.replace("\n  ", " "))

    def _words(self, rng: Random, count: int) -> list[str]:
        words, weights = self._vocabulary
        return rng.choices(words, cum_weights=weights, k=count)

    def _sentence_words(self, rng: Random, low: int, high: int) -> str:
        sentence = " ".join(self._words(rng, rng.randint(low, high)))
        return sentence[0].upper() + sentence[1:]

    # Frontmatter

    def _sources(self, rng: Random) -> list[SourceEntry]:
        entries: list[SourceEntry] = []
        for _ in range(rng.choices((0, 1, 2, 3), (35, 27, 24, 14))[0]):
            identifier = f"{self._name_word(rng)}-{self._name_word(rng)}"
            if any(entry.id == identifier for entry in entries):
                continue
            url = f"https://wiki.example.com/{identifier.replace('-', '/')}"
            local = f"/{self.path(rng.randrange(self.n))}"
            entries.append(
                SourceEntry(
                    id=identifier,
                    title=self._sentence_words(rng, 2, 4),
                    resource=local if chance(rng, 0.2) else url,
                    author=f"human:{rng.choice(self.people)}" if chance(rng, 0.5) else "",
                    usage_count=int(10 ** rng.uniform(0, 4)) if chance(rng, 0.6) else None,
                    last_modified=random_day(rng, 2024, 2026) if chance(rng, 0.5) else "",
                )
            )
        return entries

    def _frontmatter(self, rng: Random, i: int, title: str, description: str, sources: list[SourceEntry]) -> str:
        """About 0.6 KB of YAML: a dozen keys in flow and block style, quoted and plain."""
        flow = chance(rng, 0.5)
        names, weights = zip(*TYPES, strict=True)
        generated_at = random_instant(rng, 2025, 2026)
        tags = list(dict.fromkeys(rng.choices(self.tags, cum_weights=self.tag_weights, k=8)))[:5]

        parts = [f"type: {rng.choices(names, weights)[0]}\n"]
        quoted = chance(rng, 0.2)
        parts.append(f'title: "{title}: {rng.choice(SUBJECT_WORDS)}"\n' if quoted else f"title: {title}\n")
        parts.append(f"description: {folded(description) if chance(rng, 0.3) else description}\n")
        if chance(rng, 0.75):
            parts.append(f"resource: https://data.example.com/{self.directory_of(i).top}/{self.names[i]}\n")
        parts.append(flow_list("tags", tags) if chance(rng, 0.5) else block_list("tags", tags))
        parts.append(event_mapping("generated", rng.choice(AGENTS), generated_at, flow))
        parts.append(self._verified(rng, flow))
        if chance(rng, 0.5):
            parts.append(f"status: {rng.choices(STATUSES, (70, 20, 10))[0]}\n")
        if chance(rng, 1 / 3):
            parts.append(f"stale_after: {random_instant(rng, 2026, 2027)}\n")
        if sources:
            parts.append("sources:\n" + "".join(source_yaml(entry, flow) for entry in sources))
            if any(entry.usage_count is not None for entry in sources):
                day = random_day(rng, 2025, 2026)
                parts.append(f"usage_window: {{ from: {day}, to: {int(day[:4]) + 1}{day[4:]} }}\n")
        # Keys of the producer's own: the format allows any, and real bundles have some.
        if chance(rng, 0.8):
            parts.append(f"owner: {rng.choice(self.people)}\n")
        if chance(rng, 0.9):
            parts.append(f"domain: {self.directory_of(i).top}\n")
        if chance(rng, 0.6):
            parts.append(f"version: {rng.randint(0, 9)}.{rng.randint(0, 20)}\n")
        if chance(rng, 0.6):
            parts.append(f"cadence: {rng.choice(CADENCES)}\n")
        if chance(rng, 0.4):
            parts.append(f"regions: [{', '.join(rng.sample(REGIONS, 2))}]\n")
        if chance(rng, 0.15):
            rng.shuffle(parts)
        return "".join(parts)

    def _verified(self, rng: Random, flow: bool) -> str:
        count = rng.choices((0, 1, 2), (45, 36, 19))[0]
        if count == 0:
            return ""
        actors = [f"human:{rng.choice(self.people)}" if chance(rng, 0.7) else rng.choice(AGENTS) for _ in range(count)]
        instants = sorted(random_instant(rng, 2026, 2026) for _ in range(count))
        if count == 1 and chance(rng, 0.3):
            return event_mapping("verified", actors[0], instants[0], flow)
        lines = ["verified:\n"]
        for actor, instant in zip(actors, instants, strict=True):
            lines.append(f"  - {{ by: {actor}, at: {instant} }}\n" if flow else f"  - by: {actor}\n    at: {instant}\n")
        return "".join(lines)

    # Body

    def _body(self, rng: Random, i: int, sources: list[SourceEntry]) -> str:
        """Markdown of about 2.2 KB in the mean; sizes spread log-normally, as those of real files do."""
        count = int(BODY_WORDS * min(6.0, rng.lognormvariate(-0.125, 0.5)))
        words = self._words(rng, max(count, SHORTEST_BODY_WORDS))
        cited = [entry for entry in sources if chance(rng, 0.85)]
        tokens = self._tokens(rng, i) + [f"{self._words(rng, 1)[0]} [^{entry.id}]" for entry in cited]
        for position, token in zip(rng.sample(range(len(words)), len(tokens)), tokens, strict=True):
            words[position] = token

        blocks = prose_blocks(rng, words)
        if chance(rng, FENCED_SHARE):
            blocks.insert(rng.randint(1, len(blocks)), self._fenced(rng))
        lines = "\n\n".join(blocks) + "\n"
        if cited:
            lines += "\n" + "".join(f"[^{entry.id}]: {entry.title}\n" for entry in cited)
        return lines

    def _tokens(self, rng: Random, i: int) -> list[str]:
        """What stands between the plain words: links, identifiers, versions, code spans, other scripts."""
        tokens = [self._link(rng, i) for _ in range(rng.randint(3, 6))]
        tokens += [identifier(rng) for _ in range(rng.randint(1, 4))]
        tokens += [f"`{identifier(rng)}`" for _ in range(rng.randint(1, 3))]
        tokens += [str(rng.randint(1, 999)) for _ in range(rng.randint(0, 3))]
        if chance(rng, 0.5):
            tokens.append(f"v{rng.randint(1, 12)}.{rng.randint(0, 9)}.{rng.randint(0, 20)}")
        if chance(rng, 0.3):
            tokens.append(f"**{' '.join(self._words(rng, 2))}**")
        if chance(rng, 0.02):
            tokens.append(rng.choice(ASCII_VARIANTS))
        if chance(rng, NON_ASCII_SHARE):
            tokens += rng.sample(NON_ASCII, rng.randint(1, 5))
        return tokens

    def _link(self, rng: Random, i: int) -> str:
        here = self.directory_of(i)
        near = chance(rng, 0.6) and here.stop - here.start > 1
        target = rng.randrange(here.start, here.stop) if near else rng.randrange(self.n)
        if target == i:
            target = here.start + (i + 1 - here.start) % (here.stop - here.start)
        there = self.directory_of(target)
        # No name ends in "-gone": it is no word of the vocabulary.
        file = self.names[target] + ("-gone" if chance(rng, BROKEN_LINK_SHARE) else "") + ".md"
        if chance(rng, 0.4):
            href = f"/{there.top}/{there.name}/{file}"
        elif there is here:
            href = rng.choice(("", "./")) + file
        elif there.top == here.top:
            href = f"../{there.name}/{file}"
        else:
            href = f"../../{there.top}/{there.name}/{file}"
        if chance(rng, 0.1):
            href += f"#{rng.choice(HEADINGS).lower().replace(' ', '-')}"
        text = self.names[target] if chance(rng, 0.3) else " ".join(self._words(rng, rng.randint(1, 3)))
        return f"[{text}]({href})"

    def _fenced(self, rng: Random) -> str:
        table = f"acme.{rng.choice(STEMS)}.{identifier(rng)}s"
        columns = sorted({identifier(rng) for _ in range(rng.randint(2, 6))})
        style = rng.choice(("sql", "sql", "python", "json", ""))
        if style == "json":
            code = json.dumps({column: rng.randint(0, 500) for column in columns}, indent=2)
        elif style == "python":
            code = "\n".join(f"frame['{column}'] = frame['{column}'].fillna({rng.randint(0, 9)})" for column in columns)
        else:
            listed = ",\n  ".join(columns)
            code = f"SELECT\n  {listed}\nFROM `{table}`\nWHERE {columns[0]} > {rng.randint(1, 90)}\nLIMIT 100;"
        return f"```{style}\n{code}\n```"


SHORTEST_CLAUSE_WORDS = 5


def prose_blocks(rng: Random, words: list[str]) -> list[str]:
    """Headings, paragraphs and lists that use up `words`; wrapped lines in a third of the files."""
    separator = "\n" if chance(rng, 0.3) else " "
    sentences: list[str] = []
    start = 0
    while start < len(words):
        length = rng.randint(6, 20)
        chunk = words[start : start + length]
        start += length
        half = len(chunk) // 2
        if half > SHORTEST_CLAUSE_WORDS:
            text = f"{' '.join(chunk[:half])},{separator}{' '.join(chunk[half:])}."
        else:
            text = f"{' '.join(chunk)}."
        sentences.append(text[0].upper() + text[1:])

    blocks: list[str] = []
    headings = rng.sample(HEADINGS, len(HEADINGS))
    start = 0
    while start < len(sentences):
        if headings and len(blocks) % 3 == 0:
            blocks.append(f"{'#' if chance(rng, 0.7) else '##'} {headings.pop()}")
        group = sentences[start : start + rng.randint(2, 5)]
        start += len(group)
        if chance(rng, 0.25):
            blocks.append("\n".join(f"- {sentence.replace(chr(10), ' ')}" for sentence in group))
        else:
            blocks.append(separator.join(group))
    return blocks


def identifier(rng: Random) -> str:
    """A snake_case name such as `customer_id`."""
    middle = f"{rng.choice(STEMS)}_" if chance(rng, 0.3) else ""
    return f"{rng.choice(STEMS)}_{middle}{rng.choice(SUFFIXES)}"


def random_day(rng: Random, first_year: int, last_year: int) -> str:
    """A date, `YYYY-MM-DD`, within these years."""
    return f"{rng.randint(first_year, last_year)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"


def random_instant(rng: Random, first_year: int, last_year: int) -> str:
    """An instant as bundles write it: mostly ISO 8601 with `Z`, or quoted with an offset, or a bare date."""
    day = random_day(rng, first_year, last_year)
    clock = f"{rng.randint(0, 23):02}:{rng.randint(0, 59):02}:00"
    if chance(rng, 0.6):
        return f"{day}T{clock}Z"
    return f"'{day}T{clock}+00:00'" if chance(rng, 0.5) else day


def folded(text: str) -> str:
    """A plain scalar over two lines, as YAML writers wrap long ones."""
    words = text.split(" ")
    half = len(words) // 2
    return " ".join(words[:half]) + "\n  " + " ".join(words[half:])


def flow_list(key: str, items: list[str]) -> str:
    """`key: [a, b]`."""
    return f"{key}: [{', '.join(items)}]\n"


def block_list(key: str, items: list[str]) -> str:
    """`key:` and a line for each item, not indented, as PyYAML writes it."""
    return f"{key}:\n" + "".join(f"- {item}\n" for item in items)


def event_mapping(key: str, by: str, at: str, flow: bool) -> str:
    """A `{by, at}` mapping in one of the two styles."""
    return f"{key}: {{ by: {by}, at: {at} }}\n" if flow else f"{key}:\n  by: {by}\n  at: {at}\n"


def source_yaml(entry: SourceEntry, flow: bool) -> str:
    """One item of the `sources` list."""
    fields = {
        "id": entry.id,
        "resource": entry.resource,
        "title": entry.title,
        "author": entry.author,
        "usage_count": "" if entry.usage_count is None else str(entry.usage_count),
        "last_modified": entry.last_modified,
    }
    pairs = [f"{key}: {value}" for key, value in fields.items() if value]
    if flow:
        return f"  - {{ {', '.join(pairs)} }}\n"
    return "  - " + "\n    ".join(pairs) + "\n"


def spoil(kind: str, frontmatter: str, body: str) -> bytes:
    """The bytes of a file that is malformed in the way that `kind` (one of MALFORMED_KINDS) names."""
    good = f"---\n{frontmatter}---\n\n{body}"
    before = {
        "bad-colon": "note: see also: the ledger: row 4\n",
        "tab-indent": "lineage:\n\tupstream: orders\n",
        "alias": "limits: &limits { low: 1, high: 9 }\nother: *limits\n",
    }
    if kind in before:
        return good.replace("---\n", f"---\n{before[kind]}", 1).encode()
    forms = {
        "no-fence": body.encode(),
        "unclosed": f"---\n{frontmatter}\n{body}".encode(),
        "not-utf8": good.encode() + "\nGröße in der Straße\n".encode("latin-1"),
        "list": f"---\n- type: Metric\n- title: a list\n---\n\n{body}".encode(),
        "duplicate-key": f"---\n{frontmatter}type: Metric\n---\n\n{body}".encode(),
        "empty": b"",
    }
    return forms[kind]


# Files on disk


def generate(n: int, out: Path, seed: int = DEFAULT_SEED) -> None:
    """Write the bundle of (n, seed) to `out`, which must be missing or empty."""
    if out.exists() and any(out.iterdir()):
        raise SystemExit(f"{out} is not empty")
    out.mkdir(parents=True, exist_ok=True)
    corpus = Corpus(n, seed)
    made_tops: dict[str, list[Directory]] = {}
    for directory in corpus.directories:
        made_tops.setdefault(directory.top, []).append(directory)
        folder = out / directory.top / directory.name
        folder.mkdir(parents=True, exist_ok=True)
        entries: list[str] = []
        for i in range(directory.start, directory.stop):
            concept = corpus.concept(i)
            name = f"{corpus.names[i]}.md"
            (folder / name).write_bytes(concept.data)
            entries.append(f"* [{concept.title}]({name}) - {concept.description}.\n")
        (folder / "index.md").write_text(f"# {directory.name}\n\n" + "".join(entries), "utf-8", newline="\n")
    for top, directories in made_tops.items():
        listed = "".join(f"* [{d.name}]({d.name}/index.md) - {d.stop - d.start} concepts.\n" for d in directories)
        (out / top / "index.md").write_text(f"# {top}\n\n# Subdirectories\n\n{listed}", "utf-8", newline="\n")
    roots = "".join(f"* [{top}]({top}/index.md)\n" for top in made_tops)
    (out / "index.md").write_text(f'---\nokf_version: "0.2"\n---\n\n# Catalog\n\n{roots}', "utf-8", newline="\n")
    (out / "log.md").write_text(log_text(corpus), "utf-8", newline="\n")
    write_stamp(out, corpus, [])


def log_text(corpus: Corpus) -> str:
    """A `log.md`, newest day first, of at most 300 entries."""
    rng = Random(f"{VERSION}:{corpus.n}:{corpus.seed}:log")
    days = sorted({random_day(rng, 2025, 2026) for _ in range(min(300, corpus.n // 50 + 1))}, reverse=True)
    lines = ["# Log\n"]
    for day in days:
        path = corpus.path(rng.randrange(corpus.n))
        lines.append(f"\n## {day}\n\n* **Update**: [{path}](/{path}) was read again.\n")
    return "".join(lines)


class Stamp(NamedTuple):
    """What STAMP says of a bundle: how it was made, and the paths that were edited since."""

    generator: int
    concepts: int
    seed: int
    edited: list[str]


def read_stamp(out: Path) -> Stamp | None:
    """The stamp of a complete bundle that this tool made, or None."""
    try:
        return Stamp(**json.loads((out / STAMP).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_stamp(out: Path, corpus: Corpus, edited: list[str]) -> None:
    """Write the stamp of `corpus` to the root of its bundle."""
    stamp = Stamp(VERSION, corpus.n, corpus.seed, edited)
    (out / STAMP).write_text(json.dumps(stamp._asdict()) + "\n", "utf-8")


def corpus_at(out: Path) -> tuple[Corpus, Stamp]:
    """The plan of the bundle at `out`. Other directories are refused: an edit must hit nobody's files."""
    stamp = read_stamp(out)
    if stamp is None or stamp.generator != VERSION:
        raise SystemExit(f"{out} is no bundle of this generator")
    return Corpus(stamp.concepts, stamp.seed), stamp


def edit(out: Path, fraction: float, seed: int) -> list[str]:
    """Rewrite that share of the well-formed files in place (same inode) and return their paths below `out`.

    A word of the body and a value of the frontmatter change. The same bundle and seed give the same edits.
    """
    corpus, stamp = corpus_at(out)
    rng = Random(f"{VERSION}:{corpus.n}:{corpus.seed}:edit:{seed}")
    candidates = [i for i in range(corpus.n) if corpus.malformed_kind(i) is None]
    chosen = sorted(rng.sample(candidates, min(len(candidates), max(1, round(corpus.n * fraction)))))
    paths = [corpus.path(i) for i in chosen]
    # Before the files: when this is killed half way, `restore` still knows all that may have changed.
    write_stamp(out, corpus, sorted({*stamp.edited, *paths}))
    for path in paths:
        old = (out / path).read_bytes()
        (out / path).write_bytes(edited_bytes(rng, old))
    return paths


def edited_bytes(rng: Random, data: bytes) -> bytes:
    """`data` with another word in its body and another `status` (or word of the `description`)."""
    fence = re.compile(rb"^---\r?\n", re.MULTILINE).search(data, 4)
    assert fence is not None
    head, body = data[: fence.start()], data[fence.start() :]
    body = replace_word(rng, body, list(re.finditer(rb"(?<= )[a-z]+(?= )", body)))
    status = re.search(rb"^status: ([a-z]+)", head, re.MULTILINE)
    if status:
        others = [name.encode() for name in STATUSES if name.encode() != status[1]]
        return head[: status.start(1)] + rng.choice(others) + head[status.end(1) :] + body
    line = re.search(rb"^description: .*$", head, re.MULTILINE)
    assert line is not None
    words = re.compile(rb"(?<= )[A-Za-z]+").finditer(head, line.start(), line.end())
    return replace_word(rng, head, list(words)) + body


def replace_word(rng: Random, data: bytes, found: list[re.Match[bytes]]) -> bytes:
    """`data` with a made-up word in place of one of `found`."""
    match = rng.choice(found)
    new = match[0]
    while new == match[0]:
        new = made_up_word(int(ZIPF_KNEE * 100 ** rng.random())).encode()
    return data[: match.start()] + new + data[match.end() :]


def restore(out: Path) -> int:
    """Write every edited file as `generate` made it; the number of files written."""
    corpus, stamp = corpus_at(out)
    edited = set(stamp.edited)
    numbers = [i for i in range(corpus.n) if corpus.path(i) in edited] if edited else []
    for i in numbers:
        (out / corpus.path(i)).write_bytes(corpus.concept(i).data)
    write_stamp(out, corpus, [])
    return len(numbers)


def main(argv: list[str] | None = None) -> int:
    """Command line; says on stdout, in one line, what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concepts", metavar="N", type=int, help="concepts, index.md and log.md not counted")
    parser.add_argument("out", metavar="OUT", type=Path, help="directory of the bundle")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="seed of the bundle, or of the edit")
    change = parser.add_mutually_exclusive_group()
    change.add_argument("--edit", type=float, metavar="SHARE", help="change this share (0 to 1) of the files")
    change.add_argument("--restore", action="store_true", help="undo all edits")
    options = parser.parse_args(argv)
    out: Path = options.out
    if options.edit is None and not options.restore:
        generate(options.concepts, out, options.seed)
        count = sum(name.endswith(".md") for _, _, names in os.walk(out) for name in names)
        print(f"{count} files written")
        return 0
    stamp = read_stamp(out)
    if stamp is None or stamp.concepts != options.concepts:
        parser.error(f"{out} is no generated bundle of {options.concepts} concepts")
    if options.restore:
        print(f"{restore(out)} files restored")
    else:
        print(f"{len(edit(out, options.edit, options.seed))} files edited")
    return 0


if __name__ == "__main__":
    sys.exit(main())
