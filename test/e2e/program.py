"""Run one of the tools as a user would, with limits, and say how it went."""
from dataclasses import dataclass
import os
from pathlib import Path
import resource
import subprocess
import tempfile
import threading
import time

GIB = 1 << 30
# Address space, not memory: far above what a well-behaved run maps, far below what would take the machine down.
ADDRESS_SPACE = 16 * GIB


@dataclass
class Outcome:
    """How a program ended. Memory in bytes; `status` is negative for a signal, as in subprocess.

    `seconds` passed on the clock, `processor_seconds` were computed in: on a busy machine only the latter says much.
    """

    command: str
    status: int
    stdout: str
    stderr: str
    seconds: float
    processor_seconds: float
    peak_bytes: int
    timed_out: bool

    def __str__(self):
        ended = "stopped at the time limit" if self.timed_out else (
            f"killed by signal {-self.status}" if self.status < 0 else f"exit status {self.status}")
        return (f"{self.command}\n  {ended} after {self.seconds:.1f} s ({self.processor_seconds:.1f} s computing), "
                f"peak memory {self.peak_bytes / (1 << 20):.0f} MiB\n"
                f"  standard error: {self.stderr[-3000:].strip() or '(nothing)'}")


def run(command: list, seconds: float = 120, cwd=None, environment=None) -> Outcome:
    """Run to the end or to the time limit; `environment` is added to the tester's."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    command = [str(part) for part in command]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd, preexec_fn=limit,
                                   env={**os.environ, **(environment or {})})
        timed_out = threading.Event()

        def stop():
            timed_out.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        elapsed = time.monotonic() - start

        def text(file):
            file.seek(0)
            return file.read().decode(errors="replace")

        return Outcome(" ".join(command), process.returncode, text(out), text(err), elapsed,
                       usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, timed_out.is_set())


def succeed(command: list, seconds: float = 120, cwd=None, environment=None) -> Outcome:
    """Run a command that has to work."""
    outcome = run(command, seconds, cwd, environment)
    assert outcome.status == 0 and not outcome.timed_out, str(outcome)
    return outcome


def compile_model(tools: Path, model: Path, plan: Path, *flags) -> Outcome:
    return succeed([tools / "sol-compile", model, "-o", plan, *flags])


def run_data_set(tools: Path, plan: Path, inputs: Path, outputs: Path) -> Outcome:
    outputs.mkdir(parents=True)
    return succeed([tools / "sol-run", plan, "--inputs", inputs, "--outputs", outputs])
