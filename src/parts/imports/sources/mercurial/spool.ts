import { closeSync, fstatSync, openSync, readSync, writeSync } from 'node:fs'

/**
 * A file that grows at its end and is read anywhere, also while it grows: memory holds none of it but what is about to be written.
 * Calls are not asynchronous: this process does nothing besides, and its file is in the system's memory mostly.
 */
export interface Spool extends Disposable {
  readonly size: number
  /** Where it begins now in the file. */
  append(chunk: Buffer): number
  read(at: number, length: number): Buffer
  /** Resolves when so many bytes are there; no more will come after `end`. */
  reached(size: number): Promise<void>
  end(): void
  fail(error: unknown): void
}

export class Truncated extends Error {}

const batch = 256 * 1024

/** What is there already counts as all of it when `complete`, and is thrown away otherwise. */
export function openSpool(path: string, complete = false): Spool {
  const file = openSync(path, complete ? 'r' : 'w+', 0o600)
  let written = complete ? fstatSync(file).size : 0
  let pending: Buffer[] = []
  let waiting = 0
  let ended = complete
  let failure: { error: unknown } | undefined
  let wake = () => {}

  function flush() {
    for (const chunk of pending) {
      for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at, chunk.length - at, written + at)
      written += chunk.length
    }
    pending = []
    waiting = 0
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
      if (at + length > written) flush()
      const bytes = Buffer.allocUnsafe(length)
      for (let done = 0; done < length; ) {
        const count = readSync(file, bytes, done, length - done, at + done)
        if (count === 0) throw new Truncated(`${path} ends before ${at + length}`)
        done += count
      }
      return bytes
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
  take(length: number): Promise<Buffer>
}

export function openCursor(spool: Spool): Cursor {
  let window: Buffer = Buffer.alloc(0)
  let start = 0
  return {
    position: 0,
    async take(length) {
      const from = this.position
      if (from < start || from + length > start + window.length) {
        await spool.reached(from + length)
        window = spool.read(from, Math.max(length, Math.min(batch, spool.size - from)))
        start = from
      }
      this.position = from + length
      return window.subarray(from - start, from - start + length)
    },
  }
}
