// Lets the page answer between two long tasks.
export const pause = () => new Promise((resolve) => setTimeout(resolve));

// `work` once there is nothing more urgent, or after 0.2 s.
export const whenIdle = (work) => (globalThis.requestIdleCallback ? requestIdleCallback(work, { timeout: 200 }) : setTimeout(work));
