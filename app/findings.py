"""What a colleague would say, each with the button that acts on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from envelope.findings import Finding
from envelope.scenario import BY_KEY

from app.markup import Markup, button, join, tag


def listed(found: Iterable[Finding]) -> Markup:
    """Findings in the order they come in, the costliest first."""
    return join(
        tag(
            "li",
            tag("p", tag("span", f"{finding.severity}: ", class_="unseen"), finding.text),
            button(set_label(finding.set), "set", data_finding=finding.key) if finding.set else None,
            class_=f"finding {finding.severity}",
            data_finding=finding.key,
        )
        for finding in found
    )


def set_label(changes: Mapping[str, str]) -> str:
    """What a [set] button says: each input and its value, as people read it."""
    return "set " + " · ".join(f"{BY_KEY[key].label} {_said(key, text)}" for key, text in changes.items())


def _said(key: str, text: str) -> str:
    kind = BY_KEY[key].kind
    return kind.echo(kind.read(text))
