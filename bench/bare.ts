import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Answer {
  status: number
  headers: string[]
  body: string
}

/** The limit: a server that does nothing but send one answer, header by header. It is a process of its own, as Belfry is. */
process.once('message', ({ status, headers, body }: Answer) => {
  const server = createServer({ keepAliveTimeout: 72_000 }, (_, response) => {
    response.sendDate = false
    response.writeHead(status, headers)
    response.end(body)
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
})
process.once('disconnect', () => process.exit())
