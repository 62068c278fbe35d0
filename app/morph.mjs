// Makes one part of the page like another without touching what stays: focus, caret, open menus and what Bokeh drew survive.

const FIELDS = "input, textarea, select";
const said = new WeakMap(); // what Python last said of a field, which shows what is typed while it is typed in

function morph(old, next) {
  if (next.hasAttribute("data-same")) return; // as it was, and so not sent
  // Most of a region is as it was. A field is looked at all the same: it may hold what its HTML does not say.
  if (!old.matches(FIELDS) && !old.querySelector(FIELDS) && old.isEqualNode(next)) return;
  const typing = old === document.activeElement; // what is being typed or marked stays
  const { value: wanted } = next; // of a select before its options move into the old one
  const own = (name) => typing && name === "value";
  for (const { name } of [...old.attributes]) if (!next.hasAttribute(name) && !own(name)) old.removeAttribute(name);
  for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value && !own(name)) old.setAttribute(name, value);
  if (old.hasAttribute("data-keep")) return;
  morphChildren(old, next);
  if (!old.matches(FIELDS)) return;
  said.set(old, wanted);
  if (!typing || old.nodeName === "SELECT") correct(old);
}

// Let a field show what Python says of it.
export function correct(field) {
  const text = said.get(field) ?? field.defaultValue ?? field.value;
  if (field.value !== text) field.value = text;
}

// Take a node out; returns the one after it.
function dropped(node) {
  const { nextSibling } = node;
  node.remove();
  return nextSibling;
}

const keyOf = (node) => (node.nodeType === 1 ? node.id || node.getAttribute("data-region") || node.getAttribute("data-row") || "" : ""); // `dataset` is slower

export function morphChildren(old, next) {
  const wantedKeys = new Set(Array.from(next.childNodes, keyOf));
  const keyed = new Map();
  // What goes, goes first: then what stays is not moved, which would take the focus from it.
  for (const child of [...old.childNodes]) {
    const key = keyOf(child);
    if (key && !wantedKeys.has(key)) child.remove();
    else if (key) keyed.set(key, child);
  }
  let at = old.firstChild;
  for (const wanted of [...next.childNodes]) {
    const key = keyOf(wanted);
    let match = key ? keyed.get(key) : at && !keyOf(at) && at.nodeName === wanted.nodeName ? at : null;
    if (match && match.nodeName !== wanted.nodeName) match = null;
    while (match && at !== match && at && !keyOf(at)) at = dropped(at); // as of what has a key: it goes, so that `match` stays
    if (!match) {
      old.insertBefore(wanted, at);
      continue;
    }
    if (match === at) at = at.nextSibling;
    else old.insertBefore(match, at);
    if (match.nodeType === 1) morph(match, wanted);
    else if (match.data !== wanted.data) match.data = wanted.data;
  }
  while (at) at = dropped(at);
}
