"""Many runs: what is done stays done, what was interrupted goes on, what fails is recorded and stops no other."""

from __future__ import annotations

import errno
import os
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

import torch
from filelock import FileLock, Timeout
from tqdm import tqdm

from ..errors import StoppedError, UserError, gently
from ..evaluation.evaluate import evaluate
from ..evaluation.provenance import provenance
from ..files import replacing, write_json
from ..models import PREDICTORS, from_pretrained
from ..models.calibration import uncalibrated
from ..own.cluster import installed_ray, join
from ..prediction import Predictor
from ..tasks import get_task
from ..training.fit import fit, quiet
from . import records
from .plan import Job
from .processes import end_with

EngineName = Literal["local", "ray"]
ATTEMPTS = 3  # at a job whose process was killed
# Such an error is the folder's, not the job's: every other job would meet it too.
NO_PLACE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class Outcome(NamedTuple):
    """How a job ended: well, or with an ``error`` in one sentence."""

    job: Job
    error: str | None = None


Engine = Callable[[Sequence[Job], Path, int], Iterator[Outcome]]


@dataclass(frozen=True)
class Summary:
    """``done``: jobs finished now; ``before``: found finished; ``failed``: with their errors; ``missing``: without their data."""

    done: int
    before: int
    failed: list[Outcome]
    missing: list[Outcome]


def run(
    jobs: Sequence[Job],
    folder: Path,
    *,
    workers: int = 1,
    engine: EngineName = "local",
    address: str | None = None,
    progress: bool = True,
) -> Summary:
    """Run the ``jobs`` whose results are not in ``folder`` yet, ``workers`` at a time.

    Results go to ``folder``, trained models to ``folder/runs``, errors to ``folder/errors``. Other machines of a Ray cluster
    must see ``folder`` under the same path.
    """
    folder = folder.absolute()
    start = _ray(address) if engine == "ray" else _local
    with gently(), _claimed(folder):
        open_jobs = [job for job in jobs if not _checked(folder, job)]
        absent = [Outcome(job, text) for job in open_jobs if (text := get_task(job.task).missing())]
        todo = [job for job in open_jobs if job not in {outcome.job for outcome in absent}]
        failed: list[Outcome] = []
        done = len(jobs) - len(open_jobs)
        with tqdm(total=done + len(todo), initial=done, unit="run", disable=None if progress else True) as bar:
            for outcome in start(todo, folder, workers):
                if outcome.error:
                    failed.append(outcome)
                bar.update()
                bar.set_postfix_str(f"{outcome.job.name}{', failed: ' + str(len(failed)) if failed else ''}")
    return Summary(len(todo) - len(failed), done, failed, absent)


def work(job: Job, folder: Path, threads: int) -> Outcome:
    """Do one job and leave its result in ``folder``; called in processes of their own too."""
    torch.set_num_threads(threads)
    quiet()
    with warnings.catch_warnings():  # a process of its own does not know what the command knows
        warnings.filterwarnings("ignore", module="lightning|torch")
        return _work(job, folder, threads)


def _work_for(parent: int, job: Job, folder: Path) -> Outcome:
    """Do one job in a process of a pool on this machine."""
    end_with(parent)
    return work(job, folder, 1)


def _work(job: Job, folder: Path, threads: int) -> Outcome:
    error_file, at_work = folder / "errors" / f"{job.name}.txt", _at_work(folder, job)
    try:
        at_work.parent.mkdir(parents=True, exist_ok=True)
        at_work.write_text(str(os.getpid()), encoding="utf-8")
        predictor = _trained(job, folder, threads) if job.trains else _ready(job)
        table = evaluate(uncalibrated(predictor), get_task(job.task), draws=job.draws, graphs=job.graphs)
        records.write(folder, job, replace(table, made=provenance(folder / "runs" / job.name)))
        error_file.unlink(missing_ok=True)
    except StoppedError:  # the grid is, and the other jobs with it
        raise KeyboardInterrupt from None
    except Exception as error:
        if _no_place(error):
            raise
        _record_error(folder, job, traceback.format_exc())
        return Outcome(job, " ".join(str(error).split()) or type(error).__name__)
    finally:
        at_work.unlink(missing_ok=True)
    return Outcome(job)


def _ready(job: Job) -> Predictor:
    """What has nothing to train: a plain predictor, or a model that comes trained."""
    return PREDICTORS[job.model]() if job.model in PREDICTORS else from_pretrained(job.model)


def _trained(job: Job, folder: Path, threads: int) -> Predictor:
    note = _note(folder, job)
    if not note.exists():
        with replacing(note) as temporary:
            write_json(temporary, job.identity())
    recipe, model = job.settings()
    fitted = fit(
        get_task(job.task),
        model,
        recipe,
        out=folder / "runs" / job.name,
        seed=job.seed,
        threads=threads,
        resume=True,
        progress=False,
    )
    if not fitted.metrics["finished"]:
        raise KeyboardInterrupt
    return fitted.model


def _note(folder: Path, job: Job) -> Path:
    """Beside the run's folder: what it was started as."""
    return folder / "runs" / f"{job.name}.json"


def _at_work(folder: Path, job: Job) -> Path:
    """There while the job is at work, with the number of its process: who of several is to blame when one dies."""
    return folder / "runs" / f"{job.name}.at-work"


def _checked(folder: Path, job: Job) -> bool:
    """Whether the job is done; an error where something of other code or options is in its place."""
    note = _note(folder, job)
    if job.trains and note.exists():
        found, wanted = records.read_json(note), records.as_stored(job.identity())
        if found != wanted:
            raise UserError(
                f"{note.with_suffix('')} was started with {records.difference(found, wanted)}; "
                "choose another folder, or move it away."
            )
    return records.is_done(folder, job)


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """No other grid may work in ``folder`` at the same time."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout as error:
        raise UserError(
            f"Another 'mpnp reproduce' is at work in {folder}; wait for it, or choose another folder."
        ) from error
    except OSError as error:
        raise UserError(
            f"Cannot write to {folder}: {error.strerror or error}; choose a place you can write to."
        ) from error


def _no_place(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_PLACE:
            return True
        error = error.__cause__
    return False


def _record_error(folder: Path, job: Job, text: str) -> None:
    with replacing(folder / "errors" / f"{job.name}.txt") as temporary:
        temporary.write_text(text, encoding="utf-8")


def _local(jobs: Sequence[Job], folder: Path, workers: int) -> Iterator[Outcome]:
    """Here: one job after the other with all threads, or several processes with one thread each."""
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    if workers == 1:
        threads = torch.get_num_threads()
        yield from (work(job, folder, threads) for job in jobs)
        return
    todo, suspects = list(jobs), []
    while todo:
        finished: set[Job] = set()
        try:
            for outcome in Parallel(workers, return_as="generator_unordered", batch_size=1)(
                delayed(_work_for)(os.getpid(), job, folder) for job in todo
            ):
                finished.add(outcome.job)
                yield outcome
            break
        except TerminatedWorkerError:  # one process was killed, and the pool gives up the others
            left = [job for job in todo if job not in finished]
            blamed = [job for job in left if _at_work(folder, job).exists()] or left
            suspects += blamed
            todo = [job for job in left if job not in blamed]
    for job in suspects:  # each alone, so that it takes no other with it
        for _ in range(ATTEMPTS):
            try:
                yield from Parallel(2)([delayed(_work_for)(os.getpid(), job, folder)])
                break
            except TerminatedWorkerError:
                continue
        else:
            yield _killed(job, folder)


def _killed(job: Job, folder: Path) -> Outcome:
    error = "Its process was killed each time; it may need more memory than there is."
    _record_error(folder, job, error)
    _at_work(folder, job).unlink(missing_ok=True)
    return Outcome(job, error)


def _ray(address: str | None) -> Engine:
    """On a Ray cluster: the one at ``address``, or one started here with as many processors as workers."""
    installed_ray()

    def start(jobs: Sequence[Job], folder: Path, workers: int) -> Iterator[Outcome]:
        ray = join(address, workers)
        remote = ray.remote(num_cpus=1, max_retries=ATTEMPTS)(work)
        running = {remote.remote(job, folder, 1): job for job in jobs}
        while running:
            for ready in ray.wait(list(running))[0]:
                job = running.pop(ready)
                try:
                    yield ray.get(ready)
                except ray.exceptions.WorkerCrashedError:
                    yield _killed(job, folder)

    return start
