import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createPlainServer, type Server, type Socket } from 'node:net'

async function listening(server: Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A server that no program may connect to. */
export async function startVictim() {
  let connections = 0
  const server = await listening(
    createPlainServer((socket) => {
      connections++
      socket.on('error', () => {}).end()
    }),
  )
  return { ...server, connections: () => connections }
}

/**
 * A source that redirects what `when` selects, and passes on the rest to a real server. Without one, it answers probes as a server of
 * Subversion does.
 */
export async function startRedirecting(location: string, when: (request: IncomingMessage) => boolean, real?: string) {
  const requests: { method: string; authorization: string | undefined; redirected: boolean }[] = []
  const answer = (question: IncomingMessage, response: ServerResponse) => {
    const redirected = when(question)
    requests.push({ method: question.method ?? '', authorization: question.headers.authorization, redirected })
    if (redirected) response.writeHead(301, { location, 'content-length': 0 }).end()
    else if (real === undefined) response.writeHead(200, { DAV: 'http://subversion.tigris.org/xmlns/dav/svn/depth' }).end()
    else {
      const { method, headers, url = '' } = question
      const onward = request(new URL(url, real), { method, headers }, (received) => {
        response.writeHead(received.statusCode ?? 500, received.headers)
        received.pipe(response)
      })
      onward.on('error', () => response.destroy())
      question.pipe(onward)
    }
  }
  const server = await listening(createServer(answer))
  return { ...server, requests, url: `http://127.0.0.1:${server.port}/` }
}

/** Answers Belfry's own client that it may not read, and `svn` with another root. */
export async function startLyingSvnserve(root: string) {
  const text = (value: string) => `${Buffer.byteLength(value)}:${value}`
  const server = createPlainServer((socket) => {
    const abilities = '( edit-pipeline svndiff1 depth )'
    const answers = [
      '( success ( ( ANONYMOUS ) 0: ) ) ',
      `( success ( ) ) ( success ( 36:12345678-1234-1234-1234-123456789012 ${text(root)} ( ) ) ) `,
    ]
    socket.on('error', () => {}).write(`( success ( 2 2 ( ) ${abilities} ) ) `)
    socket.on('data', (chunk: Buffer) => {
      const said = chunk.toString()
      if (said.includes('6:belfry')) return socket.write('( failure ( ( 170001 6:denied 0: 0 ) ) ) ')
      const next = answers.shift()
      if (next !== undefined) return socket.write(next)
      const simple = '( success ( ( ) 0: ) ) '
      if (said.includes('get-latest-rev')) socket.write(`${simple}( success ( 1 ) ) `)
      else if (said.includes('stat')) socket.write(`${simple}( success ( ( ( dir 0 false 1 ( ) ( ) ) ) ) ) `)
      else socket.write(`${simple}( success ( ) ) `)
    })
  })
  const { port, ...rest } = await listening(server)
  return { ...rest, url: `svn://127.0.0.1:${port}/` }
}
