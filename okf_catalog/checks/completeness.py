"""Does a concept say what a reader needs, and is it still fresh? (OKF §4, §5.2, §5.5)"""

from __future__ import annotations

from collections.abc import Iterator

from okf_catalog.checks.check import INFO, WARN, Catalogue, Found, Subject

checks = Catalogue()


@checks("stub", INFO, "Completeness", "There is hardly anything to read.")
def stub(subject: Subject) -> Iterator[Found]:
    # A text that is short without the blanks at its ends has a short beginning, which is cheaper to look at.
    for path, length in subject.rows("""
        select c.path, length(trim(b.body, char(9, 10, 11, 12, 13, 32))) as n
        from concepts c join bodies b on b.concept_id = c.id
        where c.bundle = :bundle
          and length(trim(substr(b.body, 1, 4 * :min_body), char(9, 10, 11, 12, 13, 32))) < :min_body and n < :min_body
        order by c.path
    """):
        least = subject.settings.min_body
        yield Found(path, f"the body has {length} character(s), fewer than {least}", {"chars": length, "min": least})


def _without(subject: Subject, column: str) -> Iterator[Found]:
    for (path,) in subject.rows(f"select path from concepts where bundle = :bundle and {column} is null order by path"):
        yield Found(path, f"has no {column}")


@checks("missing_title", INFO, "Completeness", "Lists have to show the file name instead (OKF §4.1).")
def missing_title(subject: Subject) -> Iterator[Found]:
    return _without(subject, "title")


@checks("missing_description", INFO, "Completeness", "Who chooses from a list cannot tell what it is about (OKF §4.1).")
def missing_description(subject: Subject) -> Iterator[Found]:
    return _without(subject, "description")


@checks("missing_generated", INFO, "Completeness", "Nobody can tell who wrote it and when (OKF §5.2).")
def missing_generated(subject: Subject) -> Iterator[Found]:
    # JSON is only looked into where the columns leave it open: a key without a value counts.
    for (path,) in subject.rows("""
        select path from concepts
        where bundle = :bundle and generated_at is null and generated_by is null
          and json_type(frontmatter, '$.generated') is null and json_type(frontmatter, '$.timestamp') is null
        order by path
    """):
        yield Found(path, "has neither `generated` nor `timestamp`")


@checks("expired", INFO, "Freshness", "Its author said that it should not be relied on by now (OKF §5.5).")
def expired(subject: Subject) -> Iterator[Found]:
    for path, stale_after, days in subject.rows("""
        select path, stale_after, cast(julianday(date(:now)) - julianday(date(stale_after_utc)) as integer)
        from concepts where bundle = :bundle and stale_after_utc <= :now order by path
    """):
        yield Found(path, f"was good until {stale_after} (stale_after)", {"stale_after": stale_after, "days_past": days})


@checks("stale", WARN, "Freshness", "It is older than whoever asks accepts.", needs_cutoff=True)
def stale(subject: Subject) -> Iterator[Found]:
    # The reference's spelling of a moment, so that reports can be compared.
    cutoff = f"{(subject.settings.cutoff or '')[:19].replace('T', ' ')} +0000"
    for path, generated_at in subject.rows("""
        select path, generated_at from concepts where bundle = :bundle and generated_at_utc < :cutoff order by path
    """):
        metric = {"generated_at": generated_at, "cutoff": cutoff}
        yield Found(path, f"was generated on {generated_at}, before {cutoff}", metric)
