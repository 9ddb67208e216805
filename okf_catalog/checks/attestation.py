"""Can an Attested Computation be run and checked? (OKF §10)"""

from __future__ import annotations

from collections.abc import Iterator

from okf_catalog.checks.check import WARN, Catalogue, Found, Subject
from okf_catalog.checks.links import MISSING

checks = Catalogue()


@checks("incomplete_computation", WARN, "Attestation", "It gives no computation to run, or two to choose from (OKF §10.3).")
def incomplete_computation(subject: Subject) -> Iterator[Found]:
    for path, has_file in subject.rows("""
        select c.path, k.computation is not null from computations k join concepts c on c.id = k.concept_id
        where c.bundle = :bundle and (k.computation is null) = (k.code is null) order by c.path
    """):
        if has_file:
            yield Found(path, "gives its computation twice: `computation` is what counts, so drop the code below "
                        "# Computation", {"provided": ["computation", "body"]})  # fmt: skip
        else:
            yield Found(path, "gives no computation: neither a `computation` path nor code below # Computation",
                        {"provided": []})  # fmt: skip


@checks("broken_attestation_ref", WARN, "Attestation", "It cannot be run or checked: a file that it names is not there (OKF §10.4).")
def broken_attestation_ref(subject: Subject) -> Iterator[Found]:
    for path, kind, target, target_path, line in subject.rows(f"""
        select c.path, l.kind, l.target, l.target_path, l.line
        from computations k join concepts c on c.id = k.concept_id join links l on l.concept_id = c.id
        where c.bundle = :bundle and l.kind in ('computation', 'executor', 'attester') and l.target_id is null
          and l.target_path like '%.md' and {MISSING.format(path="l.target_path")}
        order by c.path, l.position
    """):
        field = kind if kind == "computation" else f"{kind}.resource"
        yield Found(path, f"{field} `{target}` does not exist in the bundle", {"field": field, "target": target_path}, line)
