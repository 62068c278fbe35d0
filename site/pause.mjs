// Lets the page answer between two long tasks.
export const pause = () => new Promise((resolve) => setTimeout(resolve));
