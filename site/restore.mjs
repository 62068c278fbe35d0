// Puts the memory of a started Python, made at build time by site/steps/snapshot.mjs, into a fresh core.

// Bytes of a stream, in the portions that are asked for.
class Portions {
  #rest = new Uint8Array();

  constructor(stream) {
    this.reader = stream.getReader();
  }

  // Hand the next `length` bytes to `take`, in as many parts as they come in.
  async pour(length, take) {
    for (let left = length; left > 0; ) {
      if (!this.#rest.length) {
        const { done, value } = await this.reader.read();
        if (done) throw new Error("the snapshot is cut short");
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, left);
      take(part);
      left -= part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
  }

  async bytes(length) {
    const all = new Uint8Array(length);
    let at = 0;
    await this.pour(length, (part) => {
      all.set(part, at);
      at += part.length;
    });
    return all;
  }
}

const LARGEST_HEADER = 1 << 24; // bytes; more is no header

export class Snapshot {
  // Read what precedes the memory.
  static async open(stream) {
    const portions = new Portions(stream);
    const length = new DataView((await portions.bytes(4)).buffer).getUint32(0, true);
    if (length > LARGEST_HEADER) throw new Error("the snapshot has no header");
    const header = JSON.parse(new TextDecoder().decode(await portions.bytes(length)));
    const files = [];
    for (const [path, size] of header.files) files.push([path, await portions.bytes(size)]);
    return Object.assign(new Snapshot(), { portions, header, files });
  }

  // Fill a module in which no Python has run yet, as the memory comes.
  async restore(module) {
    const { API, FS, __PyRuntime: runtime, __PyEM_EMSCRIPTEN_TRAMPOLINE_OFFSET: offset } = module;
    const { build, held, size, kept, stored } = this.header;
    for (const [path, content] of this.files) {
      FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
      FS.writeFile(path, content);
    }
    // The one pointer into the function table that depends on the engine.
    const trampoline = (runtime + module.HEAP32[offset >> 2]) >> 2;
    const pointer = module.HEAP32[trampoline];
    clearBut(kept, module.HEAPU8);
    module.growMemory(size);
    for (const [from, to] of stored) {
      let at = from;
      await this.portions.pour(to - from, (part) => {
        module.HEAPU8.set(part, at);
        at += part.length;
      });
    }
    module.HEAP32[trampoline] = pointer;
    API.restoreSnapshot = () => {
      if (build !== API.config.BUILD_ID) throw new Error("the snapshot is of another Pyodide");
      return held;
    };
  }
}

function clearBut(kept, memory) {
  let at = 0;
  for (const [from, to] of [...kept, [memory.length, memory.length]]) {
    memory.fill(0, at, from);
    at = to;
  }
}
