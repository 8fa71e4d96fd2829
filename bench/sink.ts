import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A receiver that does nothing but take what comes, and note when each delivery arrived. It is a process of its own. */
const arrived = new Map<string, number>()
const sink = createServer({ keepAliveTimeout: 72_000 }, (request, response) => {
  arrived.set(String(request.headers['x-github-delivery']), Date.now())
  request.resume()
  request.once('end', () => response.end('ok'))
})
/** Takes what comes, and never answers. */
const hole = createServer((request) => request.resume())

sink.listen(0, '127.0.0.1', () =>
  hole.listen(0, '127.0.0.1', () => {
    process.send?.({ sink: (sink.address() as AddressInfo).port, hole: (hole.address() as AddressInfo).port })
  }),
)
process.on('message', (question) => {
  process.send?.(question === 'count' ? arrived.size : [...arrived])
  if (question === 'arrivals') arrived.clear()
})
process.once('disconnect', () => process.exit())
