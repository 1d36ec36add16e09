"""The project's own scripts: the style check finds what it says it finds, clang-tidy gets the files that changed, and the
closing line counts right."""
from pathlib import Path
import os
import subprocess
import sys

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]

GOOD_PASS = '''def PackThingsPass : Pass<"sched-pack-things"> {
  let summary = "s";
  let description = [{ Before: a. After: b. Fails when: never. }];
}
'''
GOOD = {
    "lib/sched/Passes.td": GOOD_PASS,
    "lib/sched/PackThings.cpp": "int main() {\n  return 0;\n}\n",
    "test/sched/pack-things.mlir": "// RUN: true\n",
    "dialects/nn/NnOps.td": 'def Nn_AddOp : Nn_Op<"add"> {\n  let summary = "s";\n  let description = [{ Example: x }];\n}\n',
}
LONG_BODY = "  f();\n" * 70


def check(root: Path, files: dict):
    """Exit status and output of the style check on a repository that holds these files."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    script = REPOSITORY / "tools/lint/check-style.py"
    # A copy, so that the repository's own exceptions don't come into it.
    (root / ".git/check-style.py").write_text(script.read_text())
    done = subprocess.run([sys.executable, root / ".git/check-style.py", root], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_clean_tree_passes(tmp_path):
    assert check(tmp_path, GOOD)[0] == 0


def without(name):
    return {key: text for key, text in GOOD.items() if key != name}


BAD = {
    "no source": (without("lib/sched/PackThings.cpp"), "has no lib/sched/PackThings.cpp"),
    "no test": (without("test/sched/pack-things.mlir"), "has no test/sched/pack-things.mlir"),
    "flag": ({**GOOD, "lib/sched/Passes.td": GOOD_PASS.replace("sched-pack", "sched-stack")}, "the flag of `PackThingsPass`"),
    "contract": ({**GOOD, "lib/sched/Passes.td": GOOD_PASS.replace("Fails when", "Fails")}, 'doesn\'t say "Fails when"'),
    "summary": ({**GOOD, "dialects/nn/NnOps.td": GOOD["dialects/nn/NnOps.td"].replace("let summary", "// ")}, "has no summary"),
    "example": ({**GOOD, "dialects/nn/NnOps.td": GOOD["dialects/nn/NnOps.td"].replace("Example", "")}, "shows no example"),
    "long file": ({**GOOD, "lib/Long.cpp": "int x;\n" * 801}, "801 lines"),
    "long function": ({**GOOD, "lib/F.cpp": f"void g() {{\n{LONG_BODY}}}\n"}, "a function of 72 lines"),
    "long method": ({**GOOD, "lib/F.h": f"struct S {{\n  void g() const {{\n{LONG_BODY}  }}\n}};\n"}, "a function of 72 lines"),
    "vague name": ({**GOOD, "lib/StringUtils.h": "int x;\n"}, "the file's name"),
    "mark": ({**GOOD, "lib/M.cpp": "// TO" + "DO later\n"}, "a limit goes into docs"),
    "crowded folder": ({**GOOD, **{f"lib/F{index}.cpp": "int x;\n" for index in range(13)}}, "13 source files"),
}


@pytest.mark.parametrize("name", BAD)
def test_each_rule_finds_its_fault(name, tmp_path):
    files, message = BAD[name]
    status, output = check(tmp_path, files)
    assert status == 1 and message in output, output


# In place of clang-tidy: says which file it was given, and finds fault with those that say so.
FAKE_TIDY = '#!/bin/sh\nfor file; do :; done\necho "checked $file"\n! grep -q fault "$file"\n'
TIDY_TREE = {
    "lib/a/Reader.h": "int read();\n",
    "lib/a/Reader.cpp": '#include "lib/a/Reader.h"\n',
    "lib/b/Writer.cpp": "int write();\n",
    "test/unit/reader_test.cpp": '#include "lib/a/Reader.h"\n',
    "build/compile_commands.json": "[]\n",
    "tools/lint/run-clang-tidy": (REPOSITORY / "tools/lint/run-clang-tidy").read_text(),
    ".gitignore": "build/\nbin/\n",
    "bin/clang-tidy-22": FAKE_TIDY,
}


def write(root: Path, files: dict):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def clang_tidy(tmp_path):
    """A function that writes files into a repository with one commit and gives status and lines of run-clang-tidy."""
    write(tmp_path, TIDY_TREE)
    (tmp_path / "bin/clang-tidy-22").chmod(0o755)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e", "commit", "-q", "-m", "m"]):
        subprocess.run(["git", "-C", tmp_path, *command], check=True)

    def run(changed: dict, *arguments):
        write(tmp_path, changed)
        environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
        command = ["bash", tmp_path / "tools/lint/run-clang-tidy", tmp_path / "build", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        return done.returncode, done.stdout.splitlines()[1:]

    return run


def test_clang_tidy_checks_what_changed(clang_tidy):
    assert clang_tidy({}) == (0, [])
    assert clang_tidy({"lib/a/Reader.h": "int read(int);\n"}) == (0, ["checked lib/a/Reader.cpp"])
    assert clang_tidy({"lib/New.cpp": "fault\n"}) == (1, ["checked lib/New.cpp", "checked lib/a/Reader.cpp"])


def test_clang_tidy_checks_all(clang_tidy):
    assert clang_tidy({}, "--all") == (0, ["checked lib/a/Reader.cpp", "checked lib/b/Writer.cpp"])


def test_clang_tidy_refuses_what_is_no_commit(clang_tidy):
    assert clang_tidy({}, "no-such-commit") == (2, [])


REPORT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure message="m"/></testcase><testcase name="c"><skipped/></testcase>
<testcase name="d" status="notrun"/></testsuite></testsuites>"""


def sum_results(*paths):
    return subprocess.run([sys.executable, REPOSITORY / "tools/setup/sum-results.py", *paths], capture_output=True, text=True)


def test_closing_line(tmp_path):
    (tmp_path / "r.xml").write_text(REPORT)
    done = sum_results(tmp_path / "r.xml", tmp_path / "absent.xml")
    assert done.stdout.splitlines()[-1] == "1 passed, 3 failed, 1 skipped" and done.returncode == 1


def test_closing_line_of_success(tmp_path):
    (tmp_path / "r.xml").write_text('<testsuite><testcase name="a"/></testsuite>')
    done = sum_results(tmp_path / "r.xml")
    assert done.stdout.splitlines()[-1] == "1 passed, 0 failed" and done.returncode == 0
