// Gives each embed of this page the height it asks for. Nothing but the page's own frames is heard.
const TALLEST = 4000; // pixels: more than any embed needs, so that none can push the text away

addEventListener("message", ({ source, origin, data }) => {
  const frame = [...document.querySelectorAll("iframe")].find((one) => one.contentWindow === source);
  if (!frame || origin !== new URL(frame.src).origin || data?.type !== "serving-envelope:height") return;
  if (Number.isFinite(data.height) && data.height > 0) frame.height = Math.min(Math.ceil(data.height), TALLEST);
});
