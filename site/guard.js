// Inline and before the page, in old JavaScript, so that it runs where nothing else does: it owns the progress line,
// says in words what is asked for and what could not start, keeps a picture of another state hidden, asks for the right
// one, and hears the reader touch a frame before the rest is there. The modules use it as `start`.
var start = (function () {
  var ASIDE = {{aside}}; // what an address says beside the state
  var MODELS = {{pictured_models}}; // those with a picture, on the page and in frames
  var SHOWN = {{pictured_parts}}; // what of them a frame shows as a picture
  var failed = false;
  var root = document.documentElement;
  var isFrame = root.getAttribute("data-view") === "embed";
  var touched = false;
  var onTouch = null;
  function element(id) {
    return document.getElementById(id);
  }
  function progress(text) {
    element("doing").textContent = element("words").textContent = text;
  }
  // So much of what Python needs is here; a screen reader hears only what is being done.
  function loaded(bytes, total) {
    var much = bytes < total ? " " + (bytes / 1e6).toFixed(1) + " of " + (total / 1e6).toFixed(1) + " MB" : "";
    element("words").textContent = element("doing").textContent + much;
  }
  function fail(what, remedy) {
    if (failed) return;
    failed = true;
    root.setAttribute("data-state", "failed");
    var box = element("failure");
    var isPending = root.getAttribute("data-first") === "pending"; // then nothing else says what was asked for
    [what, remedy].concat(isPending && view.wanted ? "Asked for: " + view.wanted : []).forEach(function (text) {
      var line = document.createElement("p");
      line.textContent = text;
      box.appendChild(line);
    });
    box.removeAttribute("hidden");
  }
  function live() {
    if (failed) return;
    root.setAttribute("data-state", "live");
    performance.mark("live");
  }
  function missing(address) {
    fail(
      "A file of this page did not load: " + String(address).split("/").slice(-2).join("/") + ".",
      "Reload the page. If the message stays, the copy on this server is incomplete or a filter blocks it."
    );
    lookForNewer();
  }
  // A new version may have taken the place of this one while the page was loading, files and all.
  function lookForNewer() {
    var own = document.querySelector("script[type=module]");
    var request = new XMLHttpRequest();
    request.open("GET", location.pathname);
    request.setRequestHeader("Cache-Control", "no-cache");
    request.onload = function () {
      if (request.status !== 200 || request.responseText.indexOf(own.getAttribute("src")) >= 0) return;
      var line = document.createElement("p");
      var button = document.createElement("button");
      line.textContent = "A new version of this page is here, and the files of the one you opened are gone. ";
      button.textContent = "Reload";
      button.onclick = function () {
        location.reload();
      };
      line.appendChild(button);
      element("failure").textContent = "";
      element("failure").appendChild(line);
    };
    request.send();
  }
  // A click and not the press before it: starting moves the page, and a press must end where it began. A link leads away.
  function hear(event) {
    if (failed || (event.target.closest && event.target.closest("a"))) return;
    window.removeEventListener("click", hear);
    touched = true;
    root.setAttribute("data-state", "starting");
    progress("Starting …");
    if (onTouch) onTouch();
  }
  function whenTouched(work) {
    onTouch = work;
    if (touched) work();
  }
  if (isFrame) window.addEventListener("click", hear);
  // Calls `work` after the frame that is made next.
  function afterFrame(work) {
    requestAnimationFrame(function () {
      setTimeout(work);
    });
  }
  // The answer has a frame of its own: with all that stands below it, it would come 0.1 s later.
  function showAnswerFirst() {
    if (!document.hidden) root.setAttribute("data-frame", "answer"); // a page that nobody looks at makes no frames
  }
  function showRest() {
    root.removeAttribute("data-frame");
    afterFrame(function () {
      performance.mark("charts");
    });
  }
  function painted() {
    afterFrame(showRest);
  }
  function awaitPage() {
    if (element("unplaced")) setTimeout(showRest);
    else requestAnimationFrame(awaitPage);
  }
  // Whether the first view stands, as numbers and charts or without any; null while that is not known.
  var hasPicture = null;
  var onStanding = [];
  function standing(given) {
    hasPicture = given;
    onStanding.forEach(function (work) {
      work(given);
    });
  }
  function whenStanding(work) {
    if (hasPicture === null) onStanding.push(work);
    else work(hasPicture);
  }
  function whenParsed(work) {
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", work);
    else work();
  }
  // Puts a picture, in a template, where it belongs once that is there; null where there is none.
  function place(picture) {
    whenParsed(function () {
      if (picture && root.getAttribute("data-state") !== "live") {
        root.removeAttribute("data-first");
        if (!isFrame) showAnswerFirst();
        element("page").textContent = "";
        element("page").appendChild(picture.content);
        painted();
      }
      standing(picture !== null);
    });
  }
  function fetchModules() {
    whenParsed(function () {
      document.body.appendChild(document.importNode(element("first").content, true));
    });
  }
  var PATIENCE = 15000; // ms; a picture has 4 to 35 KB
  function fetchPicture(name) {
    var request = new XMLHttpRequest();
    request.open("GET", "{{app}}/first/" + name + ".json");
    request.responseType = "json";
    request.timeout = PATIENCE;
    request.onloadend = function () {
      var html = request.status === 200 && request.response && request.response.html; // null for what is no JSON
      var picture = document.createElement("template");
      picture.innerHTML = html;
      place(typeof html === "string" ? picture : null);
    };
    request.send();
  }
  // The page holds the picture of one model; for any other state it stays hidden until what is asked for is there.
  var view = { wanted: "", preset: "" };
  function readAddress() {
    var asked = new URLSearchParams(location.search);
    var holds = root.getAttribute("data-holds"); // empty where the build made no pictures
    var name = asked.has("model") ? asked.get("model") : holds;
    var words = [];
    var isPreset = asked.getAll("model").length < 2; // Python says which of two counts
    asked.forEach(function (text, key) {
      if (ASIDE.indexOf(key) >= 0) return;
      if (key !== "model") isPreset = false;
      if (key.indexOf("a.") !== 0) words.push(key + " " + text);
    });
    view.wanted = words.join(" · ");
    var show = asked.has("show") ? asked.get("show") : "quantities";
    var isPictured = isPreset && MODELS.indexOf(name) >= 0 && (!isFrame || SHOWN.indexOf(show) >= 0);
    if (!isFrame && MODELS.indexOf(name) >= 0) view.preset = name;
    if (isPictured && !isFrame && name === holds) {
      showAnswerFirst();
      standing(true);
      return awaitPage();
    }
    root.setAttribute("data-first", "pending");
    if (!isFrame) element("wanted").textContent = view.wanted;
    if (isFrame) name += "." + show;
    var held = isPictured ? element("view-" + name) : null;
    // A frame's modules come once the picture that it holds stands: three frames and the post share a thread, which
    // they kept for 0.1 s. A picture that has yet to come may be long in coming.
    if (isFrame && held) {
      whenStanding(function () {
        afterFrame(fetchModules);
      });
    } else if (isFrame) fetchModules();
    if (isPictured && !held) fetchPicture(name);
    else place(held);
  }
  var browser = "Use a current Chrome, Edge, Firefox or Safari.";
  if (typeof WebAssembly !== "object") {
    fail("The calculator cannot start: this browser has no WebAssembly, or it is turned off.", browser);
  } else if (!("noModule" in document.createElement("script")) || typeof BigInt64Array !== "function") {
    fail("The calculator cannot start: this browser is too old for it.", browser);
  } else if (location.protocol === "file:") {
    fail(
      "The calculator cannot start from a file on disk: browsers refuse modules there.",
      "Serve the folder, for example with: python3 -m http.server"
    );
  }
  if (typeof URLSearchParams === "function") readAddress();
  window.addEventListener(
    "error",
    function (event) {
      var target = event.target;
      if (target && target !== window && (target.src || target.href)) missing(target.src || target.href);
    },
    true
  );
  return {
    progress: progress,
    loaded: loaded,
    view: view,
    fail: fail,
    live: live,
    missing: missing,
    whenStanding: whenStanding,
    whenTouched: whenTouched,
    hasFailed: function () {
      return failed;
    },
  };
})();
