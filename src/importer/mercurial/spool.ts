import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

export class Truncated extends Error {}

const batch = 256 * 1024
/** In bytes. Larger reads bypass the buffer. */
const most = 64 * 1024

/** With `complete`, the existing file is the whole content; otherwise it is truncated. */
export function openSpool(path: string, complete = false) {
  const file = openSync(path, complete ? 'r' : 'w+', 0o600)
  let written = complete ? fstatSync(file).size : 0
  let pending: Buffer[] = []
  let waiting = 0
  let ended = complete
  let failure: { error: unknown } | undefined
  let wake = () => {}
  let window: Buffer = Buffer.alloc(0)
  let start = 0
  // The end of the last read from the file.
  let last = 0

  function flush() {
    for (const chunk of pending) {
      for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at, chunk.length - at, written + at)
      written += chunk.length
    }
    pending = []
    waiting = 0
  }

  function load(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let done = 0; done < length; ) {
      const count = readSync(file, bytes, done, length - done, at + done)
      if (count === 0) throw new Truncated(`${path} ends before ${at + length}`)
      done += count
    }
    return bytes
  }

  return {
    get size() {
      return written + waiting
    },
    /** Returns the offset of the chunk. */
    append(chunk: Buffer) {
      const at = written + waiting
      pending.push(chunk)
      waiting += chunk.length
      if (waiting >= batch) flush()
      wake()
      return at
    },
    /** May be a slice of the read buffer: copy it to keep it. */
    read(at: number, length: number) {
      if (at < start || at + length > start + window.length) {
        if (at + length > written) flush()
        // Sequential reads fill the buffer; random reads do not.
        const follows = at >= last && at - last < batch
        last = at + length
        if (!follows || length > most) return load(at, length)
        window = load(at, Math.max(length, Math.min(batch, written - at)))
        start = at
      }
      return window.subarray(at - start, at - start + length)
    },
    /** Resolves when the file has this many bytes. Rejects if it ends before. */
    async reached(size: number) {
      while (written + waiting < size) {
        if (failure) throw failure.error
        if (ended) throw new Truncated('the data of the server ends too early')
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
    end() {
      flush()
      ended = true
      wake()
    },
    fail(error: unknown) {
      failure = { error }
      wake()
    },
    [Symbol.dispose]() {
      closeSync(file)
    },
  }
}

/**
 * A file that is appended to and read at any position, also while it grows. Calls are synchronous, because the worker has nothing else to
 * do and the file is mostly in the page cache.
 */
export type Spool = ReturnType<typeof openSpool>

export function openCursor(spool: Spool) {
  return {
    position: 0,
    /** Whether this many bytes have arrived. */
    has(length: number) {
      return this.position + length <= spool.size
    },
    await(length: number) {
      return spool.reached(this.position + length)
    },
    take(length: number) {
      this.position += length
      return spool.read(this.position - length, length)
    },
  }
}

/** Reads a spool from its start, while it grows. */
export type Cursor = ReturnType<typeof openCursor>
