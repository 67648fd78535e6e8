import operator
from functools import partial

import pytest
from distributed import LocalCluster

from biobgt import InputError
from biobgt.scale import map_subjects

double = partial(operator.mul, 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_order_and_progress_is_told(workers):
    seen = []
    results = map_subjects(double, [3, 1, 2], workers=workers, progress=lambda done, total: seen.append((done, total)))
    assert results == [6, 2, 4]
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_bad_input_in_a_worker_keeps_its_sentence():
    with pytest.raises(ZeroDivisionError):
        map_subjects(partial(operator.truediv, 1), [1, 0], workers=2)


def test_a_dask_scheduler_does_the_same():
    with LocalCluster(n_workers=1, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster:
        assert map_subjects(double, [3, 1, 2], scheduler=cluster.scheduler_address) == [6, 2, 4]


def test_an_unreachable_scheduler_gets_a_sentence():
    with pytest.raises(InputError, match="was not reached"):
        map_subjects(double, [1, 2], scheduler="tcp://127.0.0.1:9")


def test_no_items():
    assert map_subjects(double, [], workers=4) == []
