// Packed files, unpacked by a worker while the page does something else.

// `status` is the host's answer, 0 for none.
export class MissingFile extends Error {
  constructor(address, status) {
    super(`${address} did not load (${status})`);
    Object.assign(this, { address, status });
  }
}

const PAUSE = 250; // ms between two figures of how much has come

export class Unpacker {
  #files = [];
  #came = 0;
  #told = 0;

  // `tell` hears now and then how many packed bytes have come.
  constructor(decoder, tell) {
    Object.assign(this, { decoder, tell });
    const script = new URL("./unpack.js", import.meta.url).href;
    this.worker = new Worker(script);
    this.worker.onmessage = ({ data: { number, ...said } }) => this.#files[number](said);
    this.lost = new Promise((_, reject) => (this.worker.onerror = () => reject(new MissingFile(script, 0))));
    this.lost.catch(() => {}); // `open` tells
  }

  // A stream of the unpacked file, once the host has begun to send it.
  open(address) {
    const opened = new Promise((resolve, reject) => {
      let sink;
      const stream = new ReadableStream({ start: (controller) => (sink = controller) });
      this.#files.push(({ missing, isOpen, came, chunk, isAll, failure }) => {
        if (came) this.#count(came);
        if (missing !== undefined) reject(new MissingFile(address, missing));
        if (isOpen) resolve(stream);
        if (chunk) sink.enqueue(chunk);
        if (isAll) {
          sink.close();
          this.tell(this.#came);
        }
        if (failure) sink.error(new Error(failure));
      });
      this.worker.postMessage({ number: this.#files.length - 1, address, decoderAddress: this.decoder });
    });
    return Promise.race([opened, this.lost]);
  }

  #count(came) {
    this.#came += came;
    const now = performance.now();
    if (now - this.#told < PAUSE) return;
    this.#told = now;
    this.tell(this.#came);
  }

  // Its memory is as large as what it unpacks at once; the page has no further use for it.
  close() {
    this.worker.terminate();
  }
}
