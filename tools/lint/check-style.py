#!/usr/bin/env python3
"""Check the rules of this code base that a script can check.

  pass    `def PackWindowsPass : Pass<"sched-pack-windows">` in lib/sched/Passes.td has lib/sched/**/PackWindows.cpp and
          test/sched/**/pack-windows.mlir, and its name says nothing vague
  text    every pass and operation has a summary and a description; a pass says Before, After and Fails when; an
          operation shows an example
  size    .cpp up to 800 lines (aim: 500), .td 400, headers 300 (aim: 150), lit tests 250, functions 60; at most 12 source
          files a folder; folders at most 4 deep
  name    no files named utils, common, helper or misc
  mark    no notes to self in place of work (see MARKS), no places on somebody's machine

What is over an aim but not over a limit is printed and passes. exceptions.txt, beside this script, lists what may break a
rule and why; an exception that excuses nothing is itself an error, so the list can't outlive its reasons. Reads text with
regular expressions: it doesn't understand macros, and takes a function to be what clang-format starts at the left margin
or one step inside a class.

Use: check-style.py [REPOSITORY]; prints `path:line: rule: what is wrong`; exit status 1 if there is anything.
"""
from pathlib import Path
import re
import subprocess
import sys

SOURCE_SUFFIXES = {".cpp", ".h", ".inc", ".td", ".py", ".fbs", ".mlir", ".txt", ".cmake", ""}
LIMITS = {".cpp": (500, 800), ".inc": (500, 800), ".td": (400, 400), ".h": (150, 300), ".mlir": (250, 250)}
FUNCTION_LIMIT = 60
FILES_A_FOLDER = 12
FOLDER_DEPTH = 4
VAGUE_VERBS = {"optimize", "process", "handle", "do", "convert", "misc"}
VAGUE_FILES = re.compile(r"(?i)(?:^|[-_/])(?:utils?|common|helpers?|misc)(?=[-_.]|$)|(?:Utils?|Common|Helpers?|Misc)\.")
# Joined, so that this file doesn't contain what it looks for.
MARKS = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b|not imple" + r"mented|(?<![\w.$}/])/(?:wo" + r"rk|ho" + r"me|ro" + r"ot)/")
PASS = re.compile(r'^def (\w+?)Pass\s*:\s*Pass<\s*"([^"]+)"', re.M)
OPERATION = re.compile(r'^def (\w+)\s*:\s*\w*Op<\s*"([^"]+)"', re.M)
EXCEPTIONS = Path(__file__).with_name("exceptions.txt")


def kebab(name: str) -> str:
    """PackWindows and KVCache become pack-windows and kv-cache."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def definitions(text: str, pattern: re.Pattern):
    """Each match with its body, which ends where the next definition starts."""
    starts = [match.start() for match in re.finditer(r"^(?:def|class|let|defm|multiclass) ", text, re.M)] + [len(text)]
    for match in pattern.finditer(text):
        yield match, text[match.start() : min(start for start in starts if start > match.start())]


class Checker:
    def __init__(self, root: Path):
        self.root = root
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True, check=True,
        )
        self.files = sorted(
            path for path in set(listed.stdout.splitlines())
            if not path.startswith("test/data/") and Path(path).suffix in SOURCE_SUFFIXES and (root / path).is_file()
        )
        self.texts = {path: (root / path).read_text(errors="replace") for path in self.files}
        self.errors = []  # (path, line, rule, message)
        self.remarks = []

    def error(self, path, line, rule, message):
        self.errors.append((path, line, rule, message))

    def check_pass(self, path, match, body, text):
        line = line_of(text, match.start())
        stage = Path(path).parent.name
        flag = match[2]
        # `NnFoldPass` in lib/nn is `FoldPass`: the stage may be said, and isn't part of the file's name.
        name = match[1].removeprefix(stage.capitalize())
        short = kebab(name)
        if flag not in (short, f"{stage}-{short}"):
            self.error(path, line, "pass", f"the flag of `{name}Pass` is `{flag}`, expected `{stage}-{short}` or `{short}`")
        if flag.removeprefix(f"{stage}-").split("-")[0] in VAGUE_VERBS:
            self.error(path, line, "pass", f"`{flag}` starts with a verb that says too little")
        folder = str(Path(path).parent) + "/"
        if not any(file.startswith(folder) and Path(file).name == f"{name}.cpp" for file in self.files):
            self.error(path, line, "pass", f"`{name}Pass` has no {folder}{name}.cpp")
        tests = {f"{short}.mlir", f"{flag}.mlir"}
        if not any(file.startswith(f"test/{stage}/") and Path(file).name in tests for file in self.files):
            self.error(path, line, "pass", f"`{name}Pass` has no test/{stage}/{short}.mlir")
        if not re.search(r"\blet summary\s*=", body):
            self.error(path, line, "text", f"`{name}Pass` has no summary")
        for word in ("Before", "After", "Fails when"):
            if word.lower() not in body.lower():
                self.error(path, line, "text", f"the description of `{name}Pass` doesn't say \"{word}\"")

    def check_tablegen(self, path, text):
        for match, body in definitions(text, PASS):
            self.check_pass(path, match, body, text)
        if not path.startswith("dialects/"):
            return
        for match, body in definitions(text, OPERATION):
            line = line_of(text, match.start())
            for field in ("summary", "description"):
                if not re.search(rf"\blet {field}\s*=", body):
                    self.error(path, line, "text", f"`{match[2]}` has no {field}")
            if not re.search(r"(?i)example|```", body):
                self.error(path, line, "text", f"the description of `{match[2]}` shows no example")

    def check_functions(self, path, text):
        """A function opens with a line `…) {` at the left margin or two spaces in, and closes at the same column."""
        lines = text.split("\n")
        start = None
        for number, line in enumerate(lines, 1):
            if start is None:
                opening = re.match(r"( {0,2})(?! |//|\}|#)(?!(?:namespace|struct|class|enum|union|extern|static_assert)\b.*\{$)"
                                   r".*(?:\)|\) const|\) override|\) noexcept|\) const override|\) final|[\w>)] )\s*\{$", line)
                control = re.match(r" *(?:if|for|while|switch|do|else|try|return)\b", line)
                if opening and "(" in "".join(lines[max(0, number - 4):number]) and not control:
                    start = (number, opening[1])
            elif line.startswith(start[1] + "}"):
                length = number - start[0] + 1
                if length > FUNCTION_LIMIT:
                    self.error(path, start[0], "size", f"a function of {length} lines, the limit is {FUNCTION_LIMIT}")
                start = None

    def check_file(self, path):
        text = self.texts[path]
        suffix = Path(path).suffix
        if suffix in LIMITS:
            aim, limit = LIMITS[suffix]
            length = text.count("\n")
            if length > limit:
                self.error(path, 1, "size", f"{length} lines, the limit for {suffix} is {limit}")
            elif length > aim:
                self.remarks.append(f"{path}:1: size: {length} lines, the aim for {suffix} is {aim}")
        if suffix == ".td":
            self.check_tablegen(path, text)
        if suffix in (".cpp", ".h"):
            self.check_functions(path, text)
        if VAGUE_FILES.search(path):
            self.error(path, 1, "name", "the file's name says nothing about what it does")
        for match in MARKS.finditer(text):
            self.error(path, line_of(text, match.start()), "mark", f"`{match[0]}`: a limit goes into docs or a refusal's message")

    def check_folders(self):
        folders = {}
        for path in self.files:
            if Path(path).suffix in (".cpp", ".h", ".td", ".fbs"):
                folders.setdefault(str(Path(path).parent), []).append(path)
        for folder, members in folders.items():
            sources = {Path(member).stem for member in members}  # Name.h and Name.cpp are one thing
            if len(sources) > FILES_A_FOLDER:
                self.error(folder, 1, "size", f"{len(sources)} source files, the limit is {FILES_A_FOLDER}: split by family")
            if len(Path(folder).parts) > FOLDER_DEPTH:
                self.error(folder, 1, "size", f"{len(Path(folder).parts)} folders deep, the limit is {FOLDER_DEPTH}")

    def apply_exceptions(self):
        """Lines of exceptions.txt: `path rule reason…`."""
        if not EXCEPTIONS.is_file():
            return
        for number, line in enumerate(EXCEPTIONS.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            path, rule, *reason = line.split(maxsplit=2)
            kept = [error for error in self.errors if error[0] != path or error[2] != rule]
            if len(kept) == len(self.errors) or not reason:
                kept.append((EXCEPTIONS.name, number, "exception", f"`{line}` excuses nothing, or gives no reason"))
            self.errors = kept

    def run(self) -> int:
        for path in self.files:
            self.check_file(path)
        self.check_folders()
        self.apply_exceptions()
        for remark in self.remarks:
            print(f"remark: {remark}")
        for path, line, rule, message in sorted(self.errors):
            print(f"{path}:{line}: {rule}: {message}")
        print(f"{len(self.files)} files, {len(self.errors)} errors, {len(self.remarks)} remarks")
        return 1 if self.errors else 0


if __name__ == "__main__":
    sys.exit(Checker(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()).run())
