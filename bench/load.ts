import { connect, type Socket } from 'node:net'

export interface Load {
  port: number
  /** One request as it goes over the wire. */
  request: string
  connections: number
  seconds: number
}

/**
 * Keeps every connection busy with one request at a time, and counts answers a second. Answers are told apart by length: all are alike,
 * so the client costs next to nothing and the server is what is measured.
 */
export async function measure({ port, request, connections, seconds }: Load): Promise<number> {
  const length = await lengthOfAnswer(port, request)
  const bytes = Buffer.from(request)
  let answers = 0
  let counting = false
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)))
  for (const socket of sockets) {
    let received = 0
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
      if (received < length) return
      received = 0
      if (counting) answers++
      socket.write(bytes)
    })
    socket.write(bytes)
  }
  // The first part of a run is the compiler's.
  await pause(seconds * 0.4)
  counting = true
  const begun = performance.now()
  await pause(seconds)
  counting = false
  const took = (performance.now() - begun) / 1000
  for (const socket of sockets) socket.destroy()
  return answers / took
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}

async function lengthOfAnswer(port: number, request: string) {
  const bytes = await readAnswer(port, request)
  return bytes.length
}

/** The whole of one answer, headers and body. */
export async function readAnswer(port: number, request: string): Promise<Buffer> {
  const socket = await open(port)
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0)
    socket.once('error', reject)
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      const head = bytes.indexOf('\r\n\r\n')
      if (head < 0) return
      const body = Number(/^content-length: (\d+)/im.exec(bytes.toString('latin1', 0, head))?.[1] ?? 0)
      if (bytes.length < head + 4 + body) return
      socket.destroy()
      resolve(bytes)
    })
    socket.write(request)
  })
}

function pause(seconds: number) {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000))
}
