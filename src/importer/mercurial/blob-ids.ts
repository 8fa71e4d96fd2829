import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'

const width = 20
const batch = 2048

/** Reads the ids by position. */
export function readBlobIds(path: string): (place: number) => Buffer {
  const ids = readFileSync(path)
  return (place) => ids.subarray(place * width, (place + 1) * width)
}

export function openBlobIds(path: string) {
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  const earlier = readFileSync(file)
  const pending = Buffer.alloc(batch * width)
  let first = 0
  let count = 0
  /** Writes the pending ids to the file. */
  function flush() {
    if (count > 0) writeSync(file, pending, 0, count * width, first * width)
    count = 0
  }
  return {
    // Positions beyond the end, and gaps in the file, are zeros.
    /** Whether an earlier run has set it. */
    has: (number: number) => earlier.subarray(number * width, (number + 1) * width).some((byte) => byte !== 0),
    set(number: number, id: Buffer) {
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

/** The git ids of file contents, computed from the contents. Verification compares git's trees with them. */
export type BlobIds = ReturnType<typeof openBlobIds>
