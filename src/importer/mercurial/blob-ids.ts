import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'

const width = 20
const batch = 2048

/** The ids that git gives to the texts of files, made of the texts themselves: what is found in git later is compared with these. */
export interface BlobIds extends Disposable {
  /** Whether an earlier run has set it. */
  has(number: number): boolean
  set(number: number, id: Buffer): void
  /** Before anybody relies on what was set. */
  flush(): void
}

/** Those that were written there, by their places. */
export function readBlobIds(path: string): (place: number) => Buffer {
  const ids = readFileSync(path)
  return (place) => ids.subarray(place * width, (place + 1) * width)
}

export function openBlobIds(path: string): BlobIds {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const earlier = readFileSync(file)
  const pending = Buffer.alloc(batch * width)
  let first = 0
  let count = 0
  function flush() {
    if (count > 0) writeSync(file, pending, 0, count * width, first * width)
    count = 0
  }
  return {
    // What lies behind the end, or was left out in a file that was written further on, is zeros.
    has: (number) => earlier.subarray(number * width, (number + 1) * width).some((byte) => byte !== 0),
    set(number, id) {
      if (count === batch || number !== first + count) flush()
      if (count === 0) first = number
      id.copy(pending, count++ * width)
    },
    flush,
    [Symbol.dispose]() {
      flush()
      closeSync(file)
    },
  }
}
