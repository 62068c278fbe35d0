"""What each message of the page does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from envelope import catalog, layer_table
from envelope.curves import CHARTS
from envelope.model import Model
from envelope.pasted import assumptions
from envelope.pasted import inputs as inputs_of
from envelope.scenario import BY_KEY

from app import charts, config_dialog, dialogs, header, inputs, page, quantities
from app.browser import Message
from app.config_dialog import Files
from app.markup import Markup, button

if TYPE_CHECKING:
    from app.main import Page


class Actions:
    """The messages by name. Each method takes the message and changes the page's state or view."""

    def __init__(self, shown: Page) -> None:
        self._page = shown
        self._files = Files()
        self._asked: config_dialog.Wanted | None = None
        self._offered = {"show": "quantities", "fields": "context"}

    def act(self, message: Message) -> None:
        """Do what a message asks for; one that names nothing known is ignored."""
        do = getattr(self, f"_do_{message.get('do')}", None)
        if do is not None:
            do({key: str(value) for key, value in message.items()})

    # Editing

    def _do_type(self, said: dict[str, str]) -> None:
        self._page.state.type(said["key"], said["text"])
        self._page.browser.address(self._page.query, settled=False)
        self._announce()

    def _do_commit(self, said: dict[str, str]) -> None:
        state = self._page.state
        if said["text"] != state.text(said["key"]):
            state.type(said["key"], said["text"])
            self._announce()
        self._settled(state.settle())

    def _do_set(self, said: dict[str, str]) -> None:
        state = self._page.state
        found = next((one for one in state.envelope.findings if one.key == said["finding"]), None)
        if found is not None:
            self._settled(state.set(dict(found.set)))
            self._announce()

    def _do_reset(self, said: dict[str, str]) -> None:
        self._settled(self._page.state.set({said["key"]: None}))

    def _do_reset_layers(self, said: dict[str, str]) -> None:
        self._settled(self._page.state.reset_layers())

    def _do_add_layers(self, said: dict[str, str]) -> None:
        self._reshape(layer_table.doubled, said)

    def _do_remove_layers(self, said: dict[str, str]) -> None:
        self._reshape(layer_table.without, said)

    def _reshape(self, change: Callable[[Model, int], Model], said: dict[str, str]) -> None:
        state = self._page.state
        model = state.envelope.scenario.model
        if state.stale:
            # The layers that stand there are those of the last values that could be used.
            self._page.view.notices = (page.notice("Layers can be added and taken away once every field can be used."),)
        elif model is not None and said["group"].isdecimal():
            self._settled(state.edit_layers(change(model, int(said["group"]))))
            self._announce()

    def _do_reset_all(self, said: dict[str, str]) -> None:
        self._settled(self._page.state.reset())

    def _do_undo(self, said: dict[str, str]) -> None:
        self._settled(self._page.state.undo())

    def _do_redo(self, said: dict[str, str]) -> None:
        self._settled(self._page.state.redo())

    def _do_go(self, said: dict[str, str]) -> None:
        self._page.load(said["query"], embedded=self._page.embed is not None)
        self._announce()

    def _settled(self, changed: bool) -> None:
        if changed:
            # A frame that adds steps to the history would take the back button from the page around it.
            self._page.browser.address(self._page.query, settled=self._page.embed is None)

    def _announce(self) -> None:
        state = self._page.state
        self._page.browser.say(next(iter(state.errors.values())) if state.errors else header.headline(state.envelope))

    # Comparing

    def _do_pin(self, said: dict[str, str]) -> None:
        self._page.state.pin()
        self._settled(True)

    def _do_unpin(self, said: dict[str, str]) -> None:
        self._page.state.unpin()
        self._settled(True)

    def _do_swap(self, said: dict[str, str]) -> None:
        self._page.state.swap()
        self._settled(True)

    # Looking

    def _do_how(self, said: dict[str, str]) -> None:
        view, key = self._page.view, said["quantity"]
        view.how = tuple(one for one in view.how if one != key) if key in view.how else (*view.how, key)

    def _do_fold(self, said: dict[str, str]) -> None:
        view, name, opened = self._page.view, said["name"], said["open"] == "True"
        if name.startswith("table-"):
            view.tables = _with(view.tables, name.removeprefix("table-"), opened)
        elif name in inputs.groups():
            view.folded = _with(view.folded, name, not opened)
        elif name.partition("/")[0] in inputs.groups():
            view.folded = _with(view.folded, name, opened)  # folded unless named
        else:
            view.opened = _with(view.opened, name, opened)
            if self._page.embed is None:
                self._page.browser.address(self._page.query, settled=False)

    def _do_find(self, said: dict[str, str]) -> None:
        group = BY_KEY[said["key"]].group
        self._page.view.folded = (self._page.view.folded - {group}) | {f"{group}/{inputs.MORE}"}
        self._page.browser.find(said["key"])

    def _do_light(self, said: dict[str, str]) -> None:
        self._page.dark = said["dark"] == "True"

    def _do_dismiss(self, said: dict[str, str]) -> None:
        self._page.view.notices = ()

    # Taking away

    def _do_copy_link(self, said: dict[str, str]) -> None:
        self._page.browser.copy_link(self._page.query, "Link copied")

    def _do_copy_quantity(self, said: dict[str, str]) -> None:
        quantity = self._page.state.envelope[said["quantity"]]
        self._page.browser.copy(quantities.as_text(quantity), f"{quantity.label} copied")

    def _do_export(self, said: dict[str, str]) -> None:
        dialogs.export_as(said["form"], self._page)

    def _do_csv(self, said: dict[str, str]) -> None:
        key = said["chart"]
        if key in CHARTS:
            self._page.browser.save(f"{key}.csv", "text/csv", charts.as_csv(CHARTS[key](self._page.state.envelope)))

    def _do_picture(self, said: dict[str, str]) -> None:
        figure = self._page.figures.get(said["chart"])
        if figure is not None:
            self._page.browser.save_picture(figure.model.id, f"{said['chart']}.png")

    # Dialogs

    def _do_paste(self, said: dict[str, str]) -> None:
        self._show_config(Files())

    def _do_read_config(self, said: dict[str, str]) -> None:
        self._show_config(self._files.typed(said["text"]))

    def _do_drop_config(self, said: dict[str, str]) -> None:
        self._show_config(self._files.with_files(said["files"]))

    def _do_fetch_config(self, said: dict[str, str]) -> None:
        self._asked = config_dialog.wanted(said["text"])
        if self._asked is None:
            problem = "Write org/name, or org/name@revision, as on the Hub."
            self._show_config(Files(problems=(problem,)), said["text"])
        else:
            self._page.browser.fetch(self._asked.id, self._asked.revision, config_dialog.NAMES, "fetched_config")

    def _do_fetched_config(self, said: dict[str, str]) -> None:
        # The dialog may have been closed, or another model asked for, before the Hub answered.
        if self._asked is not None and (said["id"], said["revision"]) == (self._asked.id, self._asked.revision):
            files = config_dialog.from_hub(self._asked, said["files"])
            self._show_config(files, files.hub.removesuffix("@main"))

    def _do_fill_config(self, said: dict[str, str]) -> None:
        self._show_config(self._files.filled(said["key"], said["text"]), self._files.hub)

    def _do_leave_out(self, said: dict[str, str]) -> None:
        self._show_config(self._files.without(said["key"]), self._files.hub)

    def _show_config(self, files: Files, asked: str = "") -> None:
        self._files = files
        self._open(config_dialog.dialog(files, asked))

    def _do_use_config(self, said: dict[str, str]) -> None:
        reading = self._files.read()
        self._settled(self._page.state.adopt(inputs_of(reading, self._files.name), assumptions(reading, self._files.by_hand)))
        self._do_close(said)
        self._announce()

    def _do_paste_log(self, said: dict[str, str]) -> None:
        self._open(dialogs.paste_log())

    def _do_read_log(self, said: dict[str, str]) -> None:
        self._open(dialogs.read_log(said["text"], self._page))

    def _do_use_log(self, said: dict[str, str]) -> None:
        self._settled(dialogs.use_log(said["text"], self._page))
        self._do_close(said)
        self._announce()

    def _do_embed(self, said: dict[str, str]) -> None:
        if said.get("name") in self._offered:
            self._offered[said["name"]] = said["text"]
        self._open(dialogs.embed(self._page, self._offered))

    def _do_copy_frame(self, said: dict[str, str]) -> None:
        self._page.browser.copy(said["text"], "Line copied")

    def _do_close(self, said: dict[str, str]) -> None:
        self._page.view.dialog = Markup("")
        self._asked = None
        self._page.browser.dialog(open=False)

    def _open(self, content: Markup) -> None:
        self._page.view.dialog = content
        self._page.browser.dialog(open=True)

    # The catalogue

    def catalogue_changes(self, data: str) -> tuple[Markup, ...]:
        """What the catalogue says otherwise than on the day a link was made, as far as this state uses it."""
        if not data or data >= catalog.date():
            return ()
        scenario = self._page.state.envelope.scenario
        mine = {scenario["model"], scenario["machine"]}
        changes = [one for one in catalog.changes_since(data) if one.preset in mine and one.key not in scenario.given]
        return tuple(
            page.notice(
                f"Since this link was made ({data}), {BY_KEY[one.key].label} changed from {one.old} to {scenario.text(one.key) or 'unset'}.",
                do=(button(f"Use {one.old}", "use", data_key=one.key, data_text=one.old),),
            )
            for one in changes
            if one.key in BY_KEY
        )

    def _do_use(self, said: dict[str, str]) -> None:
        if said["key"] in BY_KEY:
            self._settled(self._page.state.set({said["key"]: said["text"]}))


def _with(names: frozenset[str], name: str, there: bool) -> frozenset[str]:
    return names | {name} if there else names - {name}
