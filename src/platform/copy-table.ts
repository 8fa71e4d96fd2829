import { Readable } from 'node:stream'
import type pg from 'pg'

/** The parts of the driver's connection that a COPY uses; its types leave them out. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
  sendCopyFail(message: string): void
  stream: { pause(): void; resume(): void; writableNeedDrain: boolean; once(event: 'drain', listener: () => void): void }
}

const nothing = () => {}

/** What the driver calls for every query, and a COPY does not need. */
const unused = {
  handleRowDescription: nothing,
  handleDataRow: nothing,
  handlePortalSuspended: nothing,
  handleEmptyQuery: nothing,
  handleCommandComplete: nothing,
}

/** Runs a `COPY … TO STDOUT` and returns its output. The server is slowed down to the reader's speed. */
export function copyOut(client: pg.Client, text: string): Readable {
  let paused: CopyConnection | undefined
  const output = new Readable({
    highWaterMark: 1 << 20,
    read() {
      paused?.stream.resume()
      paused = undefined
    },
  })
  client.query({
    ...unused,
    submit: (connection: unknown) => (connection as CopyConnection).query(text),
    // The driver reuses the memory of its messages.
    handleCopyData({ chunk }: { chunk: Buffer }, connection: CopyConnection) {
      if (output.push(Buffer.from(chunk))) return
      paused = connection
      connection.stream.pause()
    },
    handleCopyInResponse: nothing,
    handleReadyForQuery: () => void output.push(null),
    handleError: (error: Error) => void output.destroy(error),
  } as pg.Submittable)
  return output
}

/** Runs a `COPY … FROM STDIN` with this input. */
export function copyIn(client: pg.Client, text: string, chunks: AsyncIterable<Buffer>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  async function send(connection: CopyConnection) {
    try {
      for await (const chunk of chunks) {
        connection.sendCopyFromChunk(chunk)
        if (connection.stream.writableNeedDrain) await new Promise<void>((done) => connection.stream.once('drain', done))
      }
      connection.endCopyFrom()
    } catch (error) {
      reject(error)
      connection.sendCopyFail('the input failed')
    }
  }
  client.query({
    ...unused,
    submit: (connection: unknown) => (connection as CopyConnection).query(text),
    handleCopyInResponse: (connection: CopyConnection) => void send(connection),
    handleCopyData: nothing,
    handleReadyForQuery: () => resolve(),
    handleError: (error: Error) => reject(error),
  } as pg.Submittable)
  return promise
}
