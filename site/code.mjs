// The Python that the page itself runs, around the app.

// Panel builds one converter with eval when it is imported. Given ready made as `null_for_undefined`,
// the page needs no 'unsafe-eval'.
export const IMPORTS = `
import pyodide.code
run_js, pyodide.code.run_js = pyodide.code.run_js, lambda text: null_for_undefined
import panel.io.pyodide
pyodide.code.run_js = run_js
from app.joined import Joined
panel.io.pyodide._link_docs = Joined
# Panel would read the address too, and evaluate its values: with thousands of digits or brackets it would never start.
panel.io.pyodide.sync_location = lambda: None
`;

// Run the app: its roots are then in the current document. What changed while it was built needs no telling.
export const BUILD = `
from panel.io.pyodide import init_doc
from panel.io.state import state
from app.main import main
init_doc()
main()
state.curdoc.unhold()
`;

// When the snapshot is made: the app at its own address, in each light and width, with the JSON that draws it.
export const BAKE = `
import itertools, json, js
from panel.io.pyodide import _doc_json, init_doc
from panel.io.state import state
from app.main import main
baked = {}
for dark, narrow in itertools.product((False, True), repeat=2):
    js.look(dark, narrow)
    init_doc()
    main()
    state.curdoc.unhold()
    docs, items, _ = _doc_json(state.curdoc)
    roots = {root.id: root.name for root in state.curdoc.roots}
    told = next(root.told for root in state.curdoc.roots if root.name == "door")
    kind = f"{'dark' if dark else 'light'}-{'narrow' if narrow else 'wide'}"
    js.keep(f"live/{kind}.json", json.dumps({"docs": json.loads(docs), "items": json.loads(items), "roots": roots, "told": told}))
    baked[kind] = state.curdoc
state.curdoc = None
panel.io.pyodide._dict_converter = null_for_undefined = None
`;

// When the snapshot is made: what the app imports only later is not in the file system of a restored Python.
// `js.late_files()` brings all of it, once, the first time a module of `late_names` is asked for.
export const LATE = `
import importlib.machinery, sys
class Late:
    def __init__(self, names):
        self.names = names
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in self.names:
            return None
        names, self.names = self.names, ()  # what the files need themselves is there
        try:
            js.late_files()
        except BaseException:
            self.names = names  # the next import tries again
            raise
        importlib.invalidate_caches()
        return importlib.machinery.PathFinder.find_spec(name, path, target)
finder = importlib.machinery.PathFinder
sys.meta_path.insert(sys.meta_path.index(finder), Late(frozenset(late_names) | sys.stdlib_module_names))
del late_names
`;

// After a snapshot is restored: nothing random may be the same for two readers.
export const WAKE = `
import random
random.seed()
`;

// After a snapshot is restored, at the app's own address: take the app that was built with it, `kind`, and join it
// to `document`, which Bokeh has drawn from the same JSON.
export const TAKE = `
from bokeh.io.doc import set_curdoc
state.curdoc = baked[kind]
set_curdoc(state.curdoc)
baked.clear()
state.curdoc._session_context = None
panel.io.pyodide._link_docs(state.curdoc, document)
`;

// In a page: render the roots where `data-root-id` says.
export const WRITE = "from panel.io.pyodide import write_doc\nawait write_doc()";

// In a worker: the document as JSON for the page, and a link that sends its changes.
export const WRITE_IN_WORKER = `
import json
from panel.io.pyodide import _link_docs_worker, write_doc
docs_json, render_items, root_ids = await write_doc()
_link_docs_worker(state.curdoc, send_patch, setter="js")
[docs_json, render_items, root_ids]
`;

// In a worker: take a change that the page sent.
export const APPLY = `
from panel.io.pyodide import _convert_json_patch
state.curdoc.apply_json_patch(_convert_json_patch(patch), setter="js")
`;
