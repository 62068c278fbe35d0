// Watches a page from its first moment, as a script that runs before the page's own: when numbers and charts are on
// display, every long task, and every frame that changed something. All times are milliseconds since navigation.
(() => {
  const QUIET = 300; // ms without a change, after which an edit has had its whole effect
  const FRAMES = 6; // before an edit, in which what was selected for it is painted
  const LEAST = 100; // px each way: a picture smaller than this is an icon
  const bench = (window.bench = { longTasks: [], shown: {} });

  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) bench.longTasks.push([startTime, duration]);
  }).observe({ type: "longtask", buffered: true });

  // Says on the console when a start has ended, so that nobody has to look for it at every frame.
  new MutationObserver(() => {
    const { state } = document.documentElement.dataset;
    if (state === "live" || state === "failed") console.debug("settled", state);
  }).observe(document, { subtree: true, attributeFilter: ["data-state"] });

  const find = (selector) => document.querySelector(`#page ${selector}`);
  const size = (element) => element?.getBoundingClientRect() ?? { width: 0, height: 0 };

  // Elements below a node, those in shadow roots too.
  function* below(node) {
    for (const element of node?.querySelectorAll("*") ?? []) {
      yield element;
      yield* below(element.shadowRoot);
    }
  }

  // Whether a canvas holds anything, looked at through a small copy so that it is not read back itself.
  function isDrawn(canvas) {
    const copy = new OffscreenCanvas(16, 16).getContext("2d");
    copy.drawImage(canvas, 0, 0, 16, 16);
    return copy.getImageData(0, 0, 16, 16).data.some((value) => value > 0);
  }

  // What is cheap to know comes first: the size of what the browser has left out of a frame makes it lay that out.
  const PICTURES = { CANVAS: isDrawn, svg: () => true, IMG: ({ complete, naturalWidth }) => complete && naturalWidth > 0 };
  function isPicture(element) {
    if (!(element.nodeName in PICTURES) || !element.checkVisibility({ visibilityProperty: true })) return false;
    const { width, height } = size(element);
    return width >= LEAST && height >= LEAST && PICTURES[element.nodeName](element);
  }

  const hasPicture = (node) => below(node).some(isPicture);
  const SHOWN = {
    // The numbers of this state, not those of another that are still hidden, nor the line that says they are computed.
    readable: () => size(find('[data-region="answer"]')).height > 0 && !("first" in document.documentElement.dataset),
    charts: () => hasPicture(find("#plot-pool-ratio")) && hasPicture(find("#plot-experts")),
    // What a frame in a post shows: its numbers, or its chart.
    frame: () => {
      const shown = find('[data-region="shown"]');
      return shown?.querySelector(".plot") ? hasPicture(shown) : size(shown).height > LEAST;
    },
  };

  let touched = new Set(); // what this frame changed
  let before = null; // the answer before an edit; null when none is watched
  let edit = null;
  let isWatching = false; // edits
  let isRunning = true;

  const answer = () => find('[data-region="answer"]').textContent;
  const inView = (element) => {
    const { top, bottom, width, height } = size(element);
    return width > 0 && height > 0 && bottom > 0 && top < innerHeight;
  };

  // After the frame has been painted: rendering is done, so nothing here forces a layout.
  function afterFrame() {
    const now = performance.now();
    if (!isWatching) for (const name of missing()) if (SHOWN[name]()) bench.shown[name] = now;
    if (before === null) return touched.clear();
    if (!edit.numbers && answer() !== before) edit.numbers = now - edit.begun;
    if (touched.size) edit.all = now - edit.begun;
    if ([...touched].some(inView)) edit.visible = now - edit.begun;
    touched.clear();
    if (!edit.numbers || now - edit.begun - edit.all < QUIET) return;
    before = null;
    console.debug("edited", JSON.stringify(edit)); // asking for it would be work of the page, and part of the edit
  }

  // What is still to come on this page; there is no page yet when this script begins.
  const missing = () => (document.documentElement?.dataset.view === "embed" ? ["frame"] : ["readable", "charts"]).filter((name) => !(name in bench.shown));

  // As long as there is something to wait for, since a frame is work of the page, too.
  function everyFrame() {
    if (isWatching || missing().length) requestAnimationFrame(everyFrame);
    else isRunning = false;
    scheduler.postTask(afterFrame, { priority: "user-blocking" }); // before the page's own tasks, whose time is not the frame's
  }
  everyFrame();

  function watchChanges() {
    const note = (node) => {
      const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
      if (element && !element.closest("#said") && element !== document.documentElement) touched.add(element);
    };
    new MutationObserver((records) => records.forEach(({ target }) => note(target))).observe(document.getElementById("page"), {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
    // Bokeh clears each of its canvases once when it paints.
    const { clearRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...given) {
      if (this.canvas instanceof Element) touched.add(this.canvas);
      return clearRect.apply(this, given);
    };
  }

  // Watch the next typed edit, once the page is at rest. The console then hears of the milliseconds from the key to the
  // painted frames: the one with a new answer, the last that changed anything in view, the last that changed anything
  // on the page.
  bench.expectEdit = async () => {
    if (!isWatching) watchChanges();
    isWatching = true;
    if (!isRunning) everyFrame();
    isRunning = true;
    for (let frame = 0; frame < FRAMES; frame += 1) await new Promise(requestAnimationFrame);
    addEventListener(
      "input",
      ({ timeStamp }) => {
        before = answer();
        edit = { begun: timeStamp, numbers: 0, visible: 0, all: 0 };
      },
      { capture: true, once: true },
    );
  };
})();
