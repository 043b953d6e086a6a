"""How opinions are read and weighed."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from mpnp.nn.weighing import LARGEST, SCALE, Weigher, opinions, two_best

EXPERTS, FACTS, EXTRAS, Z = 3, 4, 2, 5


def weigher() -> Weigher:
    torch.manual_seed(0)
    return Weigher(EXPERTS, FACTS, EXTRAS, width=8, summary=16, z_width=Z, trusted=1)


def said(nodes: int, classes: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return opinions(torch.randn(nodes, classes, EXPERTS, generator=generator).log_softmax(1))


def scores(by: Weigher, read: Tensor, summary: Tensor, kind: Tensor | None = None) -> Tensor:
    z = torch.randn(4, Z, generator=torch.Generator().manual_seed(1))
    node = torch.ones(read.size(0), EXTRAS)
    return by.score(summary, z, read, node, torch.zeros(read.size(1), EXTRAS) if kind is None else kind)


def test_opinions_by_hand() -> None:
    """Log-odds against all others, and against the likeliest of them, of one expert on three classes."""
    p = torch.tensor([0.6, 0.3, 0.1])
    odds, lead = opinions(p.log().view(1, 3, 1)).squeeze(0).unbind(1)
    torch.testing.assert_close(odds, (p / (1 - p)).log() / SCALE)
    torch.testing.assert_close(lead, torch.tensor([math.log(2), -math.log(2), -math.log(6)]) / SCALE)


def test_opinions_are_bounded_and_one_class_leads_no_one() -> None:
    sure = opinions(torch.tensor([0.0, -1e9]).view(1, 2, 1))
    assert sure.isfinite().all() and float(sure.abs().max()) == pytest.approx(LARGEST / SCALE)
    alone = opinions(torch.zeros(2, 1, EXPERTS))
    assert alone.shape == (2, 1, 2 * EXPERTS) and not alone[..., EXPERTS:].any()


def test_two_that_are_level_lead_no_one() -> None:
    lead = opinions(torch.tensor([0.4, 0.4, 0.2]).log().view(1, 3, 1))[0, :, 1]
    assert lead[:2].tolist() == [0, 0] and lead[2] < 0


@pytest.mark.parametrize("classes", [2, 3, 40])
def test_the_two_best_of_few_and_of_many_classes(classes: int) -> None:
    values = torch.randn(6, classes, 4, generator=torch.Generator().manual_seed(0)).round()  # some are level
    best, second = two_best(values)
    torch.testing.assert_close(torch.cat([best, second], 1), values.sort(1, descending=True).values[:, :2])


def test_fresh_weights_follow_the_trusted_opinion() -> None:
    by, read = weigher(), said(200, 3)
    summary = by.summary(torch.zeros(FACTS), read[:10], torch.arange(10) % 3)
    agree = scores(by, read, summary).mean(1).argmax(1) == read[..., 1].argmax(1)
    assert agree.float().mean() > 0.8


@pytest.mark.parametrize("classes", [1, 2, 7, 200])
def test_any_number_of_classes_is_scored(classes: int) -> None:
    by, read = weigher(), said(5, classes)
    for labels in (torch.zeros(0, dtype=torch.long), torch.arange(5) % classes):
        summary = by.summary(torch.zeros(FACTS), read[: labels.numel()], labels)
        out = scores(by, read, summary)
        assert out.shape == (5, 4, classes) and out.isfinite().all()


def test_names_of_classes_and_the_order_of_nodes_do_not_matter() -> None:
    by, read, y = weigher(), said(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])
    kind = torch.randn(4, EXTRAS, generator=torch.Generator().manual_seed(2))
    names = torch.tensor([2, 0, 3, 1])  # class c is called names[c]
    renamed = torch.empty_like(read)
    renamed[:, names] = read
    kinds = torch.empty_like(kind)
    kinds[names] = kind
    plain = by.summary(torch.zeros(FACTS), read, y)
    torch.testing.assert_close(by.summary(torch.zeros(FACTS), renamed, names[y]), plain)
    torch.testing.assert_close(by.summary(torch.zeros(FACTS), read.flip(0), y.flip(0)), plain)
    expected = scores(by, read, plain, kind)
    torch.testing.assert_close(scores(by, renamed, plain, kinds)[..., names], expected)
    torch.testing.assert_close(scores(by, read.flip(0), plain, kind).flip(0), expected)


def test_the_summary_reads_how_the_experts_did() -> None:
    by, read, y = weigher(), said(6, 4), torch.tensor([0, 1, 2, 3, 0, 1])
    plain = by.summary(torch.zeros(FACTS), read, y)
    assert not torch.allclose(by.summary(torch.zeros(FACTS), read, y.roll(1)), plain)
    assert not torch.allclose(by.summary(torch.ones(FACTS), read, y), plain)


def test_the_latent_has_a_spread_and_moves_the_scores() -> None:
    by, read = weigher(), said(5, 3)
    summary = by.summary(torch.zeros(FACTS), read, torch.arange(5) % 3)
    q = by.latent(summary)
    assert q.loc.shape == (Z,) and (q.scale > 0.1).all() and (q.scale < 1).all()
    assert (scores(by, read, summary).std(1) > 1e-3).any()
