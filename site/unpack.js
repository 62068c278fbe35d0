// Unpacks Zstandard, in a worker of the page and in the service worker; a classic script, which both can load anywhere.
const PIECE = 1 << 18; // bytes given to the decoder at once
const CHUNK = 1 << 20; // bytes taken from it at once
const FIRST_ERROR = 0xffffff00; // what the decoder returns from here on is an error's number

// The decoder's functions. Its file is site/steps/zstd.py's.
async function startDecoder(address) {
  const answer = await fetch(address, { cache: "force-cache" }); // named by its content
  if (!answer.ok) throw new Error(`the decoder is missing (${answer.status})`);
  const imports = { env: { emscripten_notify_memory_growth() {} } };
  return (await WebAssembly.instantiate(await answer.arrayBuffer(), imports)).instance.exports;
}

// The unpacked bytes of a stream, in chunks of one size but the last. `tell` hears of each part that comes, in bytes.
async function* unpacked(stream, decoder, tell = () => {}) {
  const context = decoder.ZSTD_createDCtx();
  const [input, output, buffers] = [PIECE, CHUNK, 24].map(decoder.malloc);
  // Two structs of the decoder's: address, size and position of what it writes, and of what it reads.
  const fields = () => new Uint32Array(decoder.memory.buffer, buffers, 6);
  const written = () => decoder.memory.buffer.slice(output, output + fields()[2]);
  const free = [input, output, buffers];
  fields().set([output, CHUNK, 0, input, 0, 0]);
  let missing = 1; // 0 once all has been read and written
  try {
    const reader = stream.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      tell(part.value.length);
      for (let from = 0; from < part.value.length; from += PIECE) {
        const piece = part.value.subarray(from, from + PIECE);
        new Uint8Array(decoder.memory.buffer).set(piece, input);
        fields().set([piece.length, 0], 4);
        for (let isFull = false; (isFull && missing) || fields()[5] < piece.length; ) {
          missing = decoder.ZSTD_decompressStream(context, buffers, buffers + 12) >>> 0;
          if (missing > FIRST_ERROR) throw new Error("the packed file is damaged");
          isFull = fields()[2] === CHUNK;
          if (isFull) {
            yield new Uint8Array(written());
            fields()[2] = 0;
          }
        }
      }
    }
    if (missing) throw new Error("the packed file is cut short");
    yield new Uint8Array(written());
  } finally {
    free.forEach(decoder.free);
    decoder.ZSTD_freeDCtx(context);
  }
}

// In a worker: a file for each message, as site/unpack.mjs asks for it.
if (typeof DedicatedWorkerGlobalScope === "function") {
  let decoder = null;
  onmessage = async ({ data: { number, address, decoderAddress } }) => {
    decoder ||= startDecoder(decoderAddress).catch(() => null);
    if (!(await decoder)) return postMessage({ number, missing: 0 });
    const answer = await fetch(address).catch(() => null);
    if (!answer?.ok) return postMessage({ number, missing: answer?.status ?? 0 });
    postMessage({ number, isOpen: true });
    try {
      const tell = (came) => postMessage({ number, came });
      for await (const chunk of unpacked(answer.body, await decoder, tell)) postMessage({ number, chunk }, [chunk.buffer]);
      postMessage({ number, isAll: true });
    } catch (error) {
      postMessage({ number, failure: error.message });
    }
  };
}
