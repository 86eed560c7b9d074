"""The data card of the suites under held-out rule sets, as Croissant metadata (https://mlcommons.org/croissant)."""

import hashlib
import json
from typing import Any

import numpy as np

from oanquan_env import __version__
from oanquan_env.benchmark.generalisation import CANARY, TEST_SPLITS, held_out_suites, suites_digest
from oanquan_env.benchmark.suites import rule_sets_path

TERMS = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in TERMS.split()},
}
"""The context of the format; readers warn if a term is missing."""
FIELDS = {
    "rules": ("Rules of the game, as text.", "$[*].rules"),
    "positions": (
        "Positions, each a list of its text, the values of all actions (null if illegal) in points from the mover's "
        "view, and the proved lower and upper bounds of these values (null for none).",
        "$[*].positions",
    ),
}


def card() -> str:
    """Return the card as JSON."""
    suites = held_out_suites()
    moves = sum(int(np.isfinite(suite.values).sum()) for _, suite in suites)
    proved = sum(int(suite.proved.sum()) for _, suite in suites)
    files = {name: rule_sets_path(name) for name in TEST_SPLITS}
    metadata = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": "oanquan-rule-sets",
        "description": (
            f"{sum(len(suite) for _, suite in suites):,} positions of the mancala Ô Ăn Quan under {len(suites)} rule "
            f"sets, with the value of every move: {proved:,} of {moves:,} values are proved, the others are from "
            f"searches without a net. For measuring generalisation over rules. {CANARY}"
        ),
        "license": "https://spdx.org/licenses/MIT.html",
        "version": f"{suites[0][1].version}.0.0",
        "datePublished": "2026-11-29",
        "creator": {"@type": "sc:Organization", "name": "The authors of oanquan"},
        "citeAs": f"oanquan {__version__}, suite rule-sets, {suites_digest()}",
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path.name,
                "name": path.name,
                "description": f"The split `{name}`: a list of suites, one for each rule set.",
                "contentUrl": f"../oanquan_env/data/{path.name}",
                "contentSize": f"{path.stat().st_size} B",
                "encodingFormat": "application/json",  # readers see by the name that it is compressed
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
            for name, path in files.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": name.removeprefix("test: ").replace(" ", "-"),
                "name": name,
                "description": f"The rule sets of the split `{name}`.",
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{name.removeprefix('test: ').replace(' ', '-')}/{field}",
                        "name": field,
                        "description": description,
                        "dataType": "sc:Text",
                        "source": {"fileObject": {"@id": path.name}, "extract": {"jsonPath": json_path}},
                    }
                    for field, (description, json_path) in FIELDS.items()
                ],
            }
            for name, path in files.items()
        ],
    }
    return json.dumps(metadata, indent=1, ensure_ascii=False) + "\n"
