#!/usr/bin/env python3
"""Sum test reports in JUnit's XML form into the closing line `N passed, N failed[, N skipped]`.

A report that is missing or unreadable counts as one failed test: its suite didn't get to its end.

Use: sum-results.py REPORT.xml...; exit status 1 if anything failed.
"""
from pathlib import Path
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case) -> str:
    """ctest marks a failure by `status="fail"` too, and a test that couldn't be run by `status="notrun"`."""
    if case.find("failure") is not None or case.find("error") is not None or case.get("status") in ("fail", "notrun"):
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def main():
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    failures = []
    for path in map(Path, sys.argv[1:]):
        try:
            cases = list(ElementTree.parse(path).iter("testcase"))
        except (OSError, ElementTree.ParseError) as error:
            counts["failed"] += 1
            failures.append(f"{path.stem}: no whole report ({error})")
            continue
        of_suite = {"passed": 0, "failed": 0, "skipped": 0}
        for case in cases:
            result = outcome(case)
            of_suite[result] += 1
            if result == "failed":
                failures.append(f"{path.stem}: {case.get('classname', '')} {case.get('name', '')}")
        for result, count in of_suite.items():
            counts[result] += count
        print(f"{path.stem}: " + ", ".join(f"{count} {result}" for result, count in of_suite.items()))
    for failure in failures:
        print(f"failed: {failure}")
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    sys.exit(counts["failed"] > 0)


if __name__ == "__main__":
    main()
