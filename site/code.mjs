// The Python that the page itself runs, around the app.

// Panel builds one converter with eval when it is imported. Given ready made as `null_for_undefined`,
// the page needs no 'unsafe-eval'.
export const IMPORTS = `
import pyodide.code
run_js, pyodide.code.run_js = pyodide.code.run_js, lambda text: null_for_undefined
import panel.io.pyodide
pyodide.code.run_js = run_js
# Panel holds edits back for half a second after one; here an edit costs less than a frame or two.
panel.io.pyodide.TIMEOUT = 0
`;

// Run the app: its roots are then in the current document.
export const BUILD = `
from panel.io.pyodide import init_doc
from panel.io.state import state
init_doc()
from app.main import main
main()
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
