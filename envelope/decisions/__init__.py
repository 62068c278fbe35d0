"""Every decision and check, in the order of the page."""

from envelope.sections import Section

ALL: tuple[Section, ...] = ()
