"""Pictures for notebooks, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

import numpy as np

from sstore._arrays import ArrayLike
from sstore._call import Size
from sstore._store import Store
from sstore._write import Objective, plans

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure


def _figure(columns: int) -> tuple[matplotlib.figure.Figure, list[matplotlib.axes.Axes]]:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    figure, axes = plt.subplots(1, columns, figsize=(5 * columns, 4), constrained_layout=True, squeeze=False)
    return figure, list(axes[0])


def plot_store(store: Store, distance: Optional[int] = None) -> matplotlib.figure.Figure:
    """Draw the bytes of a store's parts, the distances of its pairs, and the sizes of its clusters.

    Needs matplotlib (else ImportError). Finds all pairs and clusters within the distance, by default that of the store;
    the errors are those of Store.pairs().
    """
    found = store.stat()
    pairs = store.pairs(distance)
    clusters = store.clusters(distance)
    near = store.distance if distance is None else distance
    figure, (parts, distances, sizes) = _figure(3)
    names = ["tables", *(["fingerprints", "ranks"] if store.words > 1 else []), "ids", "directory", "manifest"]
    parts.bar(names, [getattr(found, f"{name}_bytes") for name in names])
    parts.set(title=f"{found.record_count:,} records: {found.total_bytes:,} bytes", ylabel="bytes")
    distances.bar(range(near + 1), np.bincount(pairs.distance, minlength=near + 1))
    distances.set(title=f"{len(pairs):,} pairs", xlabel="distance in bits", ylabel="pairs")
    values, counts = np.unique(clusters.cluster_size[clusters.is_representative], return_counts=True)
    sizes.scatter(values, counts)
    scale = "log" if len(values) > 0 else "linear"
    sizes.set(title=f"{int(counts.sum()):,} clusters", xlabel="records", ylabel="clusters", xscale=scale, yscale=scale)
    return figure


def plot_plans(
    record_count: Optional[int] = None,
    distance: int = 3,
    *,
    bits: Optional[int] = None,
    sample: Optional[ArrayLike] = None,
    objective: Objective = "balanced",
    max_bytes: Optional[Size] = None,
    no_ids: bool = False,
    block_size: Optional[Size] = None,
) -> matplotlib.figure.Figure:
    """Draw bytes and warm time of the useful plans for a store, and mark the one that is chosen.

    Needs matplotlib (else ImportError). The arguments and the errors are those of plans().
    """
    found = plans(
        record_count,
        distance,
        bits=bits,
        sample=sample,
        objective=objective,
        max_bytes=max_bytes,
        no_ids=no_ids,
        block_size=block_size,
    )
    useful = [plan for plan in found if plan.is_useful]
    figure, (axes,) = _figure(1)
    axes.plot([p.total_bytes for p in useful], [p.warm_ns / 1000 for p in useful], "o-")
    for plan in useful:
        axes.annotate(
            f"{plan.table_count}", (plan.total_bytes, plan.warm_ns / 1000), xytext=(4, 4), textcoords="offset points"
        )
        if plan.is_chosen:
            axes.plot([plan.total_bytes], [plan.warm_ns / 1000], "r*", markersize=14, label=plan.plan)
    axes.set(
        title=f"plans for {useful[0].total_bytes / useful[0].bytes_per_record:,.0f} records, distance {distance}; "
        "numbers: tables",
        xscale="log",
        yscale="log",
        xlabel="bytes of the store",
        ylabel="warm time of a query in µs",
    )
    axes.legend()
    return figure
