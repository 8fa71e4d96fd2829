import type { Readable } from 'node:stream'

/** Reads lines and bytes of a stream on demand; undefined at its end. */
export function openStreamReader(stream: Readable) {
  let ended = false
  let rest: Buffer = Buffer.alloc(0)
  let wake = () => {}
  stream.on('readable', () => wake())
  stream.on('error', () => {})

  async function more(): Promise<boolean> {
    for (;;) {
      const chunk: Buffer | null = stream.read()
      if (chunk) {
        rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
        return true
      }
      if (ended) return false
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  return {
    async line(): Promise<Buffer | undefined> {
      for (;;) {
        const end = rest.indexOf(10)
        if (end >= 0) {
          const line = rest.subarray(0, end)
          rest = rest.subarray(end + 1)
          return line
        }
        if (!(await more())) return
      }
    },
    async some(most: number): Promise<Buffer | undefined> {
      if (rest.length === 0 && !(await more())) return
      const chunk = rest.subarray(0, most)
      rest = rest.subarray(chunk.length)
      return chunk
    },
    leave() {
      ended = true
      stream.removeAllListeners('readable').resume()
      wake()
    },
  }
}
