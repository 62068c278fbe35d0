"""Stands in for numpy in the page, which has none: what Bokeh and Panel name while they are imported or ask whether
a value is an array. There are no arrays here, so every such question is answered no.

numpy costs 3 MB to fetch and half a second to start, and its machine code cannot be part of a memory snapshot without
relocating it by hand. The page's charts are drawn from lists. Anything not named here fails by its name.
"""

__version__ = "2.0.0"

nan = float("nan")
inf = float("inf")
pi = 3.141592653589793


class generic:
    """The base of numpy's scalars. Bokeh makes two at import, an epoch and a millisecond, and never meets another."""

    def __init__(self, *_arguments):
        pass


class ndarray:
    """An array; it has no instances."""

    def __init__(self, *_arguments):
        raise TypeError("the page has no numpy; use lists")


def _scalar(name, base=generic):
    return type(name, (base,), {})


number = _scalar("number")
integer = _scalar("integer", number)
floating = _scalar("floating", number)
bool_ = _scalar("bool_")
str_ = _scalar("str_")
void = _scalar("void")
datetime64 = _scalar("datetime64")
timedelta64 = _scalar("timedelta64")
int8, int16, int32, int64 = (_scalar(f"int{bits}", integer) for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_scalar(f"uint{bits}", integer) for bits in (8, 16, 32, 64))
float32, float64 = (_scalar(f"float{bits}", floating) for bits in (32, 64))


class dtype:
    """The type of an array's elements, by name."""

    def __init__(self, kind):
        self.name = getattr(kind, "__name__", kind)

    def __eq__(self, other):
        return isinstance(other, dtype) and other.name == self.name

    def __hash__(self):
        return hash(self.name)
