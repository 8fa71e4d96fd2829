import { Truncated } from './spool.ts'

const most = 16 << 20

export function openByteReader(chunks: AsyncIterable<Buffer>) {
  const iterator = chunks[Symbol.asyncIterator]()
  let left: Buffer = Buffer.alloc(0)

  async function more(): Promise<boolean> {
    const next = await iterator.next()
    if (next.done) return false
    left = left.length > 0 ? Buffer.concat([left, next.value]) : next.value
    return true
  }

  function cut(length: number): Buffer {
    const taken = left.subarray(0, length)
    left = left.subarray(taken.length)
    return taken
  }

  return {
    /** Exactly this many bytes, in memory. */
    async take(length: number) {
      if (length < 0 || length > most) throw new Truncated('the data of the server cannot be parsed')
      while (left.length < length) if (!(await more())) throw new Truncated('the data of the server ends too early')
      return cut(length)
    },
    /** This many bytes, in the chunks in which they arrive. */
    async *pass(length: number) {
      for (let missing = length; missing > 0; ) {
        if (left.length === 0 && !(await more())) throw new Truncated('the data of the server ends too early')
        const piece = cut(missing)
        missing -= piece.length
        yield piece
      }
    },
    async *rest() {
      do if (left.length > 0) yield cut(left.length)
      while (await more())
    },
  }
}

/** Reads a stream in pieces of the requested sizes. */
export type ByteReader = ReturnType<typeof openByteReader>
