import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

/**
 * A file that grows at its end and is read anywhere, also while it grows: memory holds none of it but what is about to be written.
 * Calls are not asynchronous: this process does nothing besides, and its file is in the system's memory mostly.
 */
export interface Spool extends Disposable {
  readonly size: number
  /** Where it begins now in the file. */
  append(chunk: Buffer): number
  /** A part of what is kept at hand, mostly: not for keeping, since all of that would be kept with it. */
  read(at: number, length: number): Buffer
  /** Resolves when so many bytes are there; no more will come after `end`. */
  reached(size: number): Promise<void>
  end(): void
  fail(error: unknown): void
}

export class Truncated extends Error {}

const batch = 256 * 1024
/** What is larger is read by itself. */
const most = 64 * 1024

/** What is there already counts as all of it when `complete`, and is thrown away otherwise. */
export function openSpool(path: string, complete = false): Spool {
  const file = openSync(path, complete ? 'r' : 'w+', 0o600)
  let written = complete ? fstatSync(file).size : 0
  let pending: Buffer[] = []
  let waiting = 0
  let ended = complete
  let failure: { error: unknown } | undefined
  let wake = () => {}
  let window: Buffer = Buffer.alloc(0)
  let start = 0
  // Where the last reading from the file ended.
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
    append(chunk) {
      const at = written + waiting
      pending.push(chunk)
      waiting += chunk.length
      if (waiting >= batch) flush()
      wake()
      return at
    },
    read(at, length) {
      if (at < start || at + length > start + window.length) {
        if (at + length > written) flush()
        // Whoever goes on from there will do so again; whoever goes elsewhere wants no more than that.
        const follows = at >= last && at - last < batch
        last = at + length
        if (!follows || length > most) return load(at, length)
        window = load(at, Math.max(length, Math.min(batch, written - at)))
        start = at
      }
      return window.subarray(at - start, at - start + length)
    },
    async reached(size) {
      while (written + waiting < size) {
        if (failure) throw failure.error
        if (ended) throw new Truncated('what the server sent ends too early')
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
    fail(error) {
      failure = { error }
      wake()
    },
    [Symbol.dispose]() {
      closeSync(file)
    },
  }
}

/** Reads a spool from its start on, as it fills. */
export interface Cursor {
  position: number
  /** Whether so many bytes have come. */
  has(length: number): boolean
  /** Waits until they have. */
  await(length: number): Promise<void>
  take(length: number): Buffer
}

export function openCursor(spool: Spool): Cursor {
  return {
    position: 0,
    has(length) {
      return this.position + length <= spool.size
    },
    await(length) {
      return spool.reached(this.position + length)
    },
    take(length) {
      this.position += length
      return spool.read(this.position - length, length)
    },
  }
}
